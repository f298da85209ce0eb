import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence, quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const EndsWithSchema = z.strictObject({
  port: PortNameSchema,
  value: z.string().min(1).max(1_000),
  case_sensitive: z.boolean().default(true),
})
type EndsWith = z.infer<typeof EndsWithSchema>

export const endsWith: Gate<EndsWith> = {
  type: 'ends_with',
  summary: 'Passes when the text of the port ends with `value`; spaces and line ends count.',
  params: EndsWithSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'answer', value: '.' }, outputs: { answer: 'It is done.' }, passes: true },
    { check: { port: 'answer', value: '.' }, outputs: { answer: 'It is' }, passes: false },
  ],
  check,
}

function check({ port, value, case_sensitive }: EndsWith, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongType(port, 'text', text)
  const fold = (part: string) => (case_sensitive ? part : part.toUpperCase())
  const passed = fold(text).endsWith(fold(value))
  if (passed) return { passed, reason: `ends with ${quoted([value])}`, facts: { port, value } }
  const seen = oneSentence(text.slice(-60), 60)
  return { passed, reason: `must end with ${quoted([value])}, ends with "${seen}"`, facts: { port, value } }
}
