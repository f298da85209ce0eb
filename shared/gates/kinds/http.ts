import * as z from 'zod'
import { safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import type { GatePorts } from '../gate-ports.ts'
import { PortNameSchema, readPort, wrongTypeResult } from '../read-facts.ts'
import { askableUrl, UrlSchema } from './gate-url.ts'

const HttpSchema = z
  .strictObject({
    url: UrlSchema.optional(),
    port: PortNameSchema.optional(),
    method: z.enum(['GET', 'HEAD']).default('GET'),
    expect_status: z.int().min(200).max(599).default(200),
    timeout_ms: z.int().min(1).max(30_000).default(5_000),
  })
  .refine(({ url, port }) => (url === undefined) !== (port === undefined), {
    message: 'needs either url or port (one of them, not both)',
  })
type Http = z.infer<typeof HttpSchema>

/** Carried out by net-gate, which refuses what is not public (docs/operate.md, "Gates"). */
export const http: Gate<Http> = {
  type: 'http',
  summary:
    'Passes when a GET or HEAD of the URL, at most three redirects followed, answers `expect_status`; public addresses on ports 80 and 443 only, unless the operator allows more.',
  params: HttpSchema,
  reads: ({ port }) => (port === undefined ? [] : [port]),
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'link', expect_status: 200 },
      outputs: { link: 'https://example.com/' },
      passes: true,
      needs: 'http',
    },
    { check: { url: 'http://169.254.169.254/' }, passes: false, needs: 'http' },
  ],
  check: checkHttp,
}

async function checkHttp(params: Http, facts: GateFacts, ports: Pick<GatePorts, 'http'>): Promise<CheckResult> {
  const url = params.url ?? readPort(facts, params.port ?? '')
  if (typeof url !== 'string') return wrongTypeResult(params.port ?? '', 'a URL', url)
  const problem = askableUrl(url)
  if (problem !== undefined) return { passed: false, unfit: true, reason: problem, facts: { url } }
  if (ports.http === undefined) return { passed: false, error: true, reason: 'http gates cannot ask anybody here' }
  const { method, expect_status, timeout_ms } = params
  // Who expects a redirect means the first answer.
  const first = expect_status >= 300 && expect_status < 400 ? { follow: false as const } : {}
  const answer = await ports.http.request({ method, url, timeout_ms, ...first })
  const asked = `${method} ${safeOneLine(url, 100)}`
  // What was not asked and who did not answer tell nothing, so `not: true` does not make a pass of it.
  if (answer.kind === 'refused') {
    return { passed: false, unfit: true, reason: `${asked} is not allowed: ${answer.reason}`, facts: { url } }
  }
  if (answer.kind === 'failed') {
    return { passed: false, error: true, reason: `${asked} had no answer: ${answer.reason}`, facts: { url } }
  }
  const seen = { url: answer.url, status: answer.status }
  if (answer.status === expect_status)
    return { passed: true, reason: `${asked} answered ${answer.status}`, facts: seen }
  return { passed: false, reason: `${asked} must answer ${expect_status}, it answered ${answer.status}`, facts: seen }
}
