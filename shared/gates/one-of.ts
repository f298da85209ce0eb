import * as z from 'zod'
import { canonicalJson, type Json } from '../canonical.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { heldBy, readPort, wrongType } from './read-port.ts'

const OneOfSchema = z.strictObject({
  port: PortNameSchema,
  values: z
    .array(z.union([z.string().max(500), z.number(), z.boolean()], 'a text, a number, true or false'))
    .min(1)
    .max(200),
  case_sensitive: z.boolean().default(true),
})
type OneOf = z.infer<typeof OneOfSchema>

export const oneOf: Gate<OneOf> = {
  type: 'one_of',
  summary: 'Passes when the port is exactly one of `values`: same type, same text.',
  params: OneOfSchema,
  reads: ({ port }) => [port],
  passesOn: ({ values }) => values.flatMap(heldBy),
  examples: [
    { check: { port: 'verdict', values: ['approve', 'reject'] }, outputs: { verdict: 'approve' }, passes: true },
    { check: { port: 'verdict', values: ['approve', 'reject'] }, outputs: { verdict: 'approved' }, passes: false },
  ],
  check,
}

function check({ port, values, case_sensitive }: OneOf, facts: GateFacts): CheckResult {
  const seen = readPort(facts, port)
  if (seen === undefined || seen === null) return wrongType(port, 'one of the wanted values', seen)
  const fold = (value: Json) => (case_sensitive ? canonicalJson(value) : canonicalJson(value).toUpperCase())
  const wanted = fold(seen)
  const passed = values.some((value) => fold(value) === wanted)
  const list = oneSentence(values.map((value) => JSON.stringify(value)).join(', '), 200)
  const is = oneSentence(JSON.stringify(seen), 60)
  return { passed, reason: passed ? `is ${is}` : `must be one of ${list}, is ${is}`, facts: { port, values } }
}
