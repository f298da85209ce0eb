import * as z from 'zod'
import { canonicalJson, type Json } from '../canonical.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { heldBy, readPort, wrongType } from './read-port.ts'

const EqualsSchema = z.strictObject({
  port: PortNameSchema,
  // null would never pass: a port whose value is null has none.
  value: z.json().refine((value) => value !== null, 'null equals nothing: a port whose value is null has no value'),
  case_sensitive: z.boolean().default(true),
})
type Equals = z.infer<typeof EqualsSchema>

/** Two ports are compared by `diff`. */
export const equals: Gate<Equals> = {
  type: 'equals',
  summary: 'Passes when the port is exactly `value`: same type, same text, object keys in any order.',
  params: EqualsSchema,
  reads: ({ port }) => [port],
  passesOn: ({ value }) => heldBy(value),
  examples: [
    { check: { port: 'state', value: 'done' }, outputs: { state: 'done' }, passes: true },
    { check: { port: 'count', value: 1 }, outputs: { count: '1' }, passes: false },
  ],
  check,
}

function check({ port, value, case_sensitive }: Equals, facts: GateFacts): CheckResult {
  const seen = readPort(facts, port)
  if (seen === undefined || seen === null) return wrongType(port, shown(value), seen)
  const passed = fold(seen, case_sensitive) === fold(value, case_sensitive)
  const reason = passed ? `equals ${shown(value)}` : `must equal ${shown(value)}, is ${shown(seen)}`
  return { passed, reason, facts: { port, value: shown(value) } }
}

/** Upper case, unlike lower case, does not depend on a letter's neighbours. */
function fold(value: Json, caseSensitive: boolean): string {
  const text = canonicalJson(value)
  return caseSensitive ? text : text.toUpperCase()
}

function shown(value: Json): string {
  return oneSentence(JSON.stringify(value), 100)
}
