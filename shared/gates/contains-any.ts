import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { occurrences } from './occurrences.ts'
import { quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const ContainsAnySchema = z.strictObject({
  port: PortNameSchema,
  values: z.array(z.string().min(1).max(500)).min(1).max(100),
  case_sensitive: z.boolean().default(false),
})
type ContainsAny = z.infer<typeof ContainsAnySchema>

export const containsAny: Gate<ContainsAny> = {
  type: 'contains_any',
  summary: 'Passes when at least one of the texts in `values` occurs in the text of the port.',
  params: ContainsAnySchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'label', values: ['bug', 'feature'] }, outputs: { label: 'A new feature' }, passes: true },
    { check: { port: 'label', values: ['bug', 'feature'] }, outputs: { label: 'question' }, passes: false },
  ],
  check,
}

function check({ port, values, case_sensitive }: ContainsAny, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongType(port, 'text', text)
  const { found } = occurrences(text, values, case_sensitive)
  if (found.length > 0) return { passed: true, reason: `contains ${quoted(found)}`, facts: { port, found } }
  return { passed: false, reason: `must contain one of ${quoted(values)}`, facts: { port, values } }
}
