import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { PortNameSchema } from './port-name.ts'
import { tooLarge } from './port-text.ts'
import { readPort } from './read-port.ts'
import { secretsIn } from './secret-shapes.ts'
import { MAX_SAFETY_BYTES, textsIn } from './texts-in.ts'

const NoSecretsSchema = z.strictObject({ port: PortNameSchema })
type NoSecrets = z.infer<typeof NoSecretsSchema>

/** The shapes: secret-shapes.ts. */
export const noSecrets: Gate<NoSecrets> = {
  type: 'no_secrets',
  summary:
    'Passes when the port (a text, or every text in a list or object) holds no private key block, no key or token of a well-known shape, no password in a URL and no random-looking value given to a name such as `api_key`; the verdict names kind and line, never the secret.',
  params: NoSecretsSchema,
  reads: ({ port }) => [port],
  examples: [
    { check: { port: 'patch' }, outputs: { patch: 'const key = settings.api_key' }, passes: true },
    { check: { port: 'patch' }, outputs: { patch: 'x\n-----BEGIN PRIVATE KEY-----\n' }, passes: false },
  ],
  check,
}

function check({ port }: NoSecrets, facts: GateFacts): CheckResult {
  const texts = textsIn(readPort(facts, port))
  if (texts === undefined) return tooLarge(port, MAX_SAFETY_BYTES)
  const found = texts.flatMap((text, i) => secretsIn(text).map(({ kind, line }) => ({ kind, text: i + 1, line })))
  if (found.length === 0) return { passed: true, reason: 'holds no secrets of a known shape', facts: { port } }
  const places = found.slice(0, 5).map(({ kind, text, line }) => {
    return texts.length === 1 ? `${kind} in line ${line}` : `${kind} in text ${text}, line ${line}`
  })
  const more = found.length > 5 ? ` and ${found.length - 5} more` : ''
  const reason = `must hold no secrets: take out ${places.join('; ')}${more}`
  return { passed: false, reason, facts: { port, found: found.slice(0, 10), count: found.length } }
}
