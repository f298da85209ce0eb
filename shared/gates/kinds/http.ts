import * as z from 'zod'
import type { Json } from '../../text/canonical.ts'
import { safeOneLine } from '../../text/redact.ts'
import { strictUrl } from '../../text/url.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import type { GatePorts, LimitedAnswer } from '../gate-ports.ts'
import { PortNameSchema, readPort, wrongTypeResult } from '../read-facts.ts'

/** A URL that a document's author writes: checked when the document is parsed. */
const UrlSchema = z.string().superRefine((text, context) => {
  const message = askableUrl(text)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})

/** Why no gate can ask this URL, whatever the operator allows; undefined = it may be tried. */
function askableUrl(text: string): string | undefined {
  const read = strictUrl(text)
  if (!read.ok) return `must be a URL, "${safeOneLine(text, 100)}" ${read.message}`
  const { protocol, username, password } = read.url
  if (protocol !== 'http:' && protocol !== 'https:') return `must be an http or https URL, has ${protocol}`
  return username === '' && password === '' ? undefined : 'must not carry a user name or password'
}

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

/** Bytes of JSON that are sent. */
const MAX_BYTES = 262_144

const WebhookSchema = z.strictObject({
  url: UrlSchema,
  ports: z
    .array(PortNameSchema)
    .min(1)
    .max(20)
    .refine((ports) => new Set(ports).size === ports.length, 'a port is named twice'),
  /** Sent as it is, so that one endpoint can serve several gates. */
  label: z.string().min(1).max(200).optional(),
  timeout_ms: z.int().min(1).max(30_000).default(5_000),
})
type Webhook = z.infer<typeof WebhookSchema>

const AnswerSchema = z.strictObject({ pass: z.boolean(), reason: z.string().optional() })

/** An endpoint of the author's decides. The URL stands in the document: no value ever makes one. */
export const webhook: Gate<Webhook> = {
  type: 'webhook',
  summary:
    'Passes when the URL, sent `{"v": 1, "label"?, "ports": {name: value}}` by POST, answers a status of 200 to 299 with the JSON `{"pass": true, "reason"?}`; any other answer than `{"pass": false, "reason"?}` is an error, no redirect is followed.',
  params: WebhookSchema,
  reads: ({ ports }) => ports,
  examples: [
    {
      check: { url: 'https://example.com/judge', ports: ['plan'] },
      outputs: { plan: 'Ship it.' },
      passes: true,
      needs: 'http',
    },
    { check: { url: 'http://10.0.0.1/judge', ports: ['plan'] }, outputs: { plan: 'x' }, passes: false, needs: 'http' },
  ],
  check: checkWebhook,
}

async function checkWebhook(
  params: Webhook,
  facts: GateFacts,
  { http }: Pick<GatePorts, 'http'>,
): Promise<CheckResult> {
  const { url, ports, label, timeout_ms } = params
  const values = Object.fromEntries(ports.map((port) => [port, readPort(facts, port) ?? null]))
  const body: Json = { v: 1, ...(label === undefined ? {} : { label }), ports: values }
  const bytes = Buffer.byteLength(JSON.stringify(body))
  if (bytes > MAX_BYTES) {
    const reason = `the ports have ${bytes} bytes of JSON, a webhook is sent at most ${MAX_BYTES}`
    return { passed: false, unfit: true, reason, facts: { url, bytes } }
  }
  if (http === undefined) return noDecision(url, 'webhook gates cannot ask anybody here')
  const answer = await http.request({ method: 'POST', url, timeout_ms, body })
  const read = readAnswer(answer)
  if (typeof read === 'string') return noDecision(url, `webhook ${safeOneLine(url, 80)} ${read}`)
  const said = read.reason === undefined || read.reason.trim() === '' ? 'no reason' : safeOneLine(read.reason, 200)
  return { passed: read.pass, reason: `the webhook says ${read.pass ? 'yes' : 'no'}: ${said}`, facts: { url } }
}

/** What the endpoint decided; a text = it did not, in words. */
function readAnswer(answer: LimitedAnswer): z.infer<typeof AnswerSchema> | string {
  if (answer.kind === 'refused') return `is not allowed: ${answer.reason}`
  if (answer.kind === 'failed') return `had no answer: ${answer.reason}`
  const { status, body, body_cut } = answer
  if (status < 200 || status > 299) return `answered ${status}, 200 to 299 is wanted`
  if (body_cut === true) return 'answered more than 64 KiB'
  const parsed = AnswerSchema.safeParse(jsonOf(body))
  return parsed.success ? parsed.data : 'did not answer {"pass": true or false, "reason"?: text}'
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function noDecision(url: string, reason: string): CheckResult {
  return { passed: false, error: true, reason, facts: { url } }
}
