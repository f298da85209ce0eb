import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence, quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'
import { strictUrl } from './strict-url.ts'

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
  check,
}

function check({ port, schemes }: ValidUrl, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  if (typeof value !== 'string') return wrongType(port, 'a URL', value)
  const read = strictUrl(value)
  const seen = `"${oneSentence(value, 100)}"`
  if (!read.ok) return { passed: false, reason: `must be a URL, ${seen} ${read.message}`, facts: { port, value } }
  const scheme = read.url.protocol.slice(0, -1)
  if (schemes.some((allowed) => allowed.toLowerCase() === scheme)) {
    return { passed: true, reason: `is a URL with scheme ${scheme}`, facts: { port, scheme } }
  }
  const reason = `must be a URL with scheme ${quoted(schemes)}, ${seen} has "${scheme}"`
  return { passed: false, reason, facts: { port, scheme } }
}
