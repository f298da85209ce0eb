import * as z from 'zod'
import { quotedList, safeOneLine } from '../../text/redact.ts'
import { strictUrl, urlsIn } from '../../text/url.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { MAX_SAFETY_BYTES, PortNameSchema, readPort, textsIn, tooLargeResult, wrongTypeResult } from '../read-facts.ts'

const ValidUrlSchema = z.strictObject({
  port: PortNameSchema,
  schemes: z
    .array(z.string().regex(/^[A-Za-z][A-Za-z0-9+.-]{0,30}$/, 'a scheme without the colon, such as https'))
    .min(1)
    .max(20)
    .default(['http', 'https']),
})
type ValidUrl = z.infer<typeof ValidUrlSchema>

export const validUrl: Gate<ValidUrl> = {
  type: 'valid_url',
  summary: 'Passes when the text of the port is exactly one URL with an allowed scheme, as written, nothing repaired.',
  params: ValidUrlSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'link' }, outputs: { link: 'https://example.com/a' }, passes: true },
    { check: { port: 'link', schemes: ['https'] }, outputs: { link: 'http://example.com' }, passes: false },
  ],
  check: checkValidUrl,
}

function checkValidUrl({ port, schemes }: ValidUrl, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  if (typeof value !== 'string') return wrongTypeResult(port, 'a URL', value)
  const read = strictUrl(value)
  const seen = `"${safeOneLine(value, 100)}"`
  if (!read.ok) return { passed: false, reason: `must be a URL, ${seen} ${read.message}`, facts: { port, value } }
  const scheme = read.url.protocol.slice(0, -1)
  if (schemes.some((allowed) => allowed.toLowerCase() === scheme)) {
    return { passed: true, reason: `is a URL with scheme ${scheme}`, facts: { port, scheme } }
  }
  const reason = `must be a URL with scheme ${quotedList(schemes)}, ${seen} has "${scheme}"`
  return { passed: false, reason, facts: { port, scheme } }
}

const HOST =
  /^(?:\*\.)?[a-z0-9](?:[a-z0-9-]{0,62}\.){0,10}[a-z0-9-]{0,62}(?::\d{1,5})?$|^\[[0-9a-f:]{2,39}\](?::\d{1,5})?$/

const UrlAllowListSchema = z.strictObject({
  port: PortNameSchema,
  hosts: z
    .array(
      z.string().max(260).regex(HOST, 'a host in lower case, such as example.com, *.example.com or localhost:8080'),
    )
    .max(200),
  schemes: z
    .array(z.string().regex(/^[a-z][a-z0-9+.-]{0,30}$/, 'a scheme without the colon, such as https'))
    .min(1)
    .max(20)
    .default(['http', 'https']),
})
type UrlAllowList = z.infer<typeof UrlAllowListSchema>

/** What counts as a URL: shared/text/url.ts. */
export const urlAllowList: Gate<UrlAllowList> = {
  type: 'url_allow_list',
  summary:
    "Passes when every URL in the port (a text, or every text in a list or object) has an allowed scheme and host: `example.com` is that host only, `*.example.com` its subdomains only, a port must be named (`example.com:8443`) unless it is the scheme's own, hosts of other scripts are written in punycode; a user name, a URL a browser would first repair, and `javascript:` or `data:` are never allowed. A text without URLs passes.",
  params: UrlAllowListSchema,
  reads: ({ port }) => [port],
  examples: [
    {
      check: { port: 'answer', hosts: ['example.com', '*.example.com'] },
      outputs: { answer: 'See https://docs.example.com/a and https://example.com.' },
      passes: true,
    },
    {
      check: { port: 'answer', hosts: ['example.com'] },
      outputs: { answer: 'See https://example.com@evil.test/.' },
      passes: false,
    },
  ],
  check: checkAllowed,
}

function checkAllowed({ port, hosts, schemes }: UrlAllowList, facts: GateFacts): CheckResult {
  const texts = textsIn(readPort(facts, port))
  if (texts === undefined) return tooLargeResult(port, MAX_SAFETY_BYTES)
  const urls = texts.flatMap(urlsIn)
  const allowed = new Set(hosts)
  const refused = urls.flatMap((written) => {
    const why = whyRefused(written, allowed, schemes)
    return why === undefined ? [] : [{ written, why }]
  })
  const [first] = refused
  if (first === undefined) {
    return { passed: true, reason: `all ${urls.length} URLs are allowed`, facts: { port, urls: urls.length } }
  }
  const wanted = hosts.length === 0 ? 'no URLs' : `only URLs of ${quotedList(hosts.slice(0, 5))}`
  const reason = `must have ${wanted}: take out ${quotedList([first.written])}, ${first.why}`
  return { passed: false, reason, facts: { port, refused: refused.slice(0, 5), count: refused.length } }
}

function whyRefused(written: string, hosts: ReadonlySet<string>, schemes: readonly string[]): string | undefined {
  const read = strictUrl(written)
  if (!read.ok) return `which is no URL as it is written: it ${read.message}`
  const { protocol, username, password, host, hostname, port } = read.url
  if (!schemes.includes(protocol.slice(0, -1))) return `whose scheme is "${protocol.slice(0, -1)}"`
  if (username !== '' || password !== '' || /^[^/]*\/\/[^/?#]*@/.test(written)) return 'which names a user'
  if (hosts.has(host)) return undefined
  const isBelow = parents(hostname).some((name) => hosts.has(`*.${name}${port === '' ? '' : `:${port}`}`))
  return isBelow ? undefined : `whose host is "${host.slice(0, 100)}"`
}

/** `a.b.c` has `b.c` and `c`. */
function parents(hostname: string): readonly string[] {
  const labels = hostname.split('.')
  return labels.slice(1).map((_, i) => labels.slice(i + 1).join('.'))
}
