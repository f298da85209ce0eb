import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { PII_KINDS, type PiiKind, redactPersonalData } from './personal-data.ts'
import { PortNameSchema } from './port-name.ts'
import { tooLarge } from './port-text.ts'
import { readPort } from './read-port.ts'
import { MAX_SAFETY_BYTES, textsIn } from './texts-in.ts'

const NoPiiSchema = z.strictObject({
  port: PortNameSchema,
  kinds: z
    .array(z.enum(PII_KINDS))
    .min(1)
    .max(PII_KINDS.length)
    .default([...PII_KINDS]),
})
type NoPii = z.infer<typeof NoPiiSchema>

/** The shapes: personal-data.ts. */
export const noPii: Gate<NoPii> = {
  type: 'no_pii',
  summary:
    'Passes when the port (a text, or every text and number in a list or object) holds no personal data of these kinds: e-mail addresses, IBANs and card numbers with a right checksum, US social security numbers, IP addresses, phone numbers; the facts show the place with all of them replaced by `[kind]`.',
  params: NoPiiSchema,
  reads: ({ port }) => [port],
  examples: [
    { check: { port: 'answer' }, outputs: { answer: 'Write to the help desk, room 12.' }, passes: true },
    { check: { port: 'answer' }, outputs: { answer: 'Write to ada@example.com.' }, passes: false },
    { check: { port: 'answer', kinds: ['iban'] }, outputs: { answer: 'Write to ada@example.com.' }, passes: true },
  ],
  check,
}

function check({ port, kinds }: NoPii, facts: GateFacts): CheckResult {
  const texts = textsIn(readPort(facts, port))
  if (texts === undefined) return tooLarge(port, MAX_SAFETY_BYTES)
  const answers = texts.map(redactPersonalData)
  const found = kinds.map((kind) => ({
    kind,
    count: answers.reduce((sum, { counts }) => sum + (counts[kind] ?? 0), 0),
  }))
  const bad = found.filter(({ count }) => count > 0)
  if (bad.length === 0) return { passed: true, reason: 'holds no personal data of these kinds', facts: { port } }
  const first = answers.find(({ counts }) => bad.some(({ kind }) => counts[kind] !== undefined))
  const redacted = around(
    first?.redacted ?? '',
    bad.map(({ kind }) => kind),
  )
  const reason = `must hold no personal data: take out ${bad.map(({ kind, count }) => `${count} ${kind}`).join(', ')}`
  return { passed: false, reason, facts: { port, found: bad, redacted } }
}

/** 100 characters around the first thing taken out. */
function around(redacted: string, kinds: readonly PiiKind[]): string {
  const at = Math.min(...kinds.map((kind) => redacted.indexOf(`[${kind}]`)).filter((place) => place !== -1))
  const from = Math.max(0, at - 50)
  return redacted.slice(from, from + 100).toWellFormed()
}
