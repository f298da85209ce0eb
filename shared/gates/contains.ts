import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { occurrences } from './occurrences.ts'
import { quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const ContainsSchema = z.strictObject({
  port: PortNameSchema,
  values: z.array(z.string().min(1).max(500)).min(1).max(100),
  case_sensitive: z.boolean().default(false),
})
type Contains = z.infer<typeof ContainsSchema>

export const contains: Gate<Contains> = {
  type: 'contains',
  summary: 'Passes when every one of the texts in `values` occurs in the text of the port.',
  params: ContainsSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'plan', values: ['Risks', 'Costs'] },
      outputs: { plan: 'Costs and risks are known.' },
      passes: true,
    },
    { check: { port: 'plan', values: ['Risks'] }, outputs: { plan: 'All is well.' }, passes: false },
  ],
  check,
}

function check({ port, values, case_sensitive }: Contains, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongType(port, 'text', text)
  const { missing } = occurrences(text, values, case_sensitive)
  // No repeat of the text in the facts: the wanted words are what a person or the next attempt needs.
  if (missing.length > 0) return { passed: false, reason: `must contain ${quoted(missing)}`, facts: { port, missing } }
  return { passed: true, reason: `contains ${quoted(values)}`, facts: { port } }
}
