import * as z from 'zod'
import type { CheckResult, Gate } from './gate.ts'
import { PortNameSchema } from './port-name.ts'
import { strictUrl } from './strict-url.ts'

const HttpSchema = z
  .strictObject({
    url: z.string().optional(),
    port: PortNameSchema.optional(),
    method: z.enum(['GET', 'HEAD']).default('GET'),
    expect_status: z.int().min(100).max(599).default(200),
    timeout_ms: z.int().min(1).max(60_000).default(5_000),
  })
  .superRefine(({ url, port }, context) => {
    if ((url === undefined) === (port === undefined)) {
      context.addIssue({ code: 'custom', message: 'needs either url or port (one of them, not both)' })
    }
    const problem = url === undefined ? undefined : urlProblem(url)
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['url'], message: problem })
  })
type Http = z.infer<typeof HttpSchema>

/** Spec gates, `http`. Its check needs a function with network rules of its own, which no place has yet. */
export const http: Gate<Http> = {
  type: 'http',
  summary: 'Passes when a GET or HEAD of the URL answers `expect_status`. Parameters are checked; it cannot run yet.',
  params: HttpSchema,
  reads: ({ port }) => (port === undefined ? [] : [port]),
  unavailable: true,
  examples: [
    {
      check: { port: 'link', expect_status: 200 },
      outputs: { link: 'https://example.com/' },
      passes: true,
      needs: 'http',
    },
    { check: { url: 'http://169.254.169.254/' }, passes: false, needs: 'http' },
  ],
  check: notAvailable,
}

function notAvailable(): CheckResult {
  const reason = 'http gates are not available yet: this version has no guarded network function to run them in'
  return { passed: false, error: true, reason }
}

function urlProblem(text: string): string | undefined {
  const read = strictUrl(text)
  if (!read.ok) return `must be a URL, "${text.slice(0, 100)}" ${read.message}`
  const { protocol, username, password } = read.url
  if (protocol !== 'http:' && protocol !== 'https:') return `must be an http or https URL, has ${protocol}`
  return username === '' && password === '' ? undefined : 'must not carry a user name or password'
}
