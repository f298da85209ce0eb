import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, unusable, wrongType } from './read-port.ts'
import { strictNumber } from './strict-number.ts'

const MaxValueSchema = z.strictObject({ port: PortNameSchema, max: z.number() })
type MaxValue = z.infer<typeof MaxValueSchema>

export const maxValue: Gate<MaxValue> = {
  type: 'max_value',
  summary: 'Passes when the port is a finite number, or a text that is exactly one, of at most `max`.',
  params: MaxValueSchema,
  reads: ({ port }) => [port],
  judges: () => ['text', 'number'],
  examples: [
    { check: { port: 'risk', max: 0.2 }, outputs: { risk: 0.1 }, passes: true },
    { check: { port: 'risk', max: 0.2 }, outputs: { risk: '30 %' }, passes: false },
  ],
  check,
}

function check({ port, max }: MaxValue, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  const number = typeof value === 'string' ? strictNumber(value) : value
  if (typeof number === 'number' && Number.isFinite(number)) {
    const passed = number <= max
    const reason = passed ? `is ${number}, at most ${max} wanted` : `must be at most ${max}, is ${number}`
    return { passed, reason, facts: { port, value: number, max } }
  }
  if (typeof value !== 'string') return wrongType(port, 'a number', value)
  const reason = unusable(port, value) ?? `port ${port} must be a number, is the text "${oneSentence(value, 60)}"`
  return { passed: false, unfit: true, reason, facts: { port, value } }
}
