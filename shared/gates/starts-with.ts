import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence, quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const StartsWithSchema = z.strictObject({
  port: PortNameSchema,
  value: z.string().min(1).max(1_000),
  case_sensitive: z.boolean().default(true),
})
type StartsWith = z.infer<typeof StartsWithSchema>

export const startsWith: Gate<StartsWith> = {
  type: 'starts_with',
  summary: 'Passes when the text of the port starts with `value`; spaces and line ends count.',
  params: StartsWithSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'brief', value: '# ' }, outputs: { brief: '# Title' }, passes: true },
    { check: { port: 'brief', value: '# ' }, outputs: { brief: 'Sure! # Title' }, passes: false },
  ],
  check,
}

function check({ port, value, case_sensitive }: StartsWith, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongType(port, 'text', text)
  const fold = (part: string) => (case_sensitive ? part : part.toUpperCase())
  const passed = fold(text).startsWith(fold(value))
  if (passed) return { passed, reason: `starts with ${quoted([value])}`, facts: { port, value } }
  const seen = oneSentence(text.slice(0, 60), 60)
  return { passed, reason: `must start with ${quoted([value])}, starts with "${seen}"`, facts: { port, value } }
}
