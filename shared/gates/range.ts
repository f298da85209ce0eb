import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'
import { strictNumber } from './strict-number.ts'

const RangeSchema = z
  .strictObject({ port: PortNameSchema, min: z.number().optional(), max: z.number().optional() })
  .superRefine(({ min, max }, context) => {
    if (min === undefined && max === undefined) context.addIssue({ code: 'custom', message: 'needs min, max or both' })
    if (min !== undefined && max !== undefined && min > max) {
      context.addIssue({
        code: 'custom',
        path: ['min'],
        message: `min ${min} is above max ${max}: it could never pass`,
      })
    }
  })
type Range = z.infer<typeof RangeSchema>

export const range: Gate<Range> = {
  type: 'range',
  summary: 'Passes when the port is a finite number, or a text that is exactly one, from `min` to `max`.',
  params: RangeSchema,
  reads: ({ port }) => [port],
  judges: () => ['text', 'number'],
  examples: [
    { check: { port: 'score', min: 0, max: 1 }, outputs: { score: 0.5 }, passes: true },
    { check: { port: 'score', min: 0, max: 1 }, outputs: { score: 1.5 }, passes: false },
  ],
  check,
}

function check({ port, min, max }: Range, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  const number = typeof value === 'string' ? strictNumber(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    if (typeof value !== 'string') return wrongType(port, 'a number', value)
    const reason = `port ${port} must be a number, is the text "${oneSentence(value, 60)}"`
    return { passed: false, unfit: true, reason, facts: { port, value } }
  }
  const passed = number >= (min ?? number) && number <= (max ?? number)
  const wanted = [min === undefined ? '' : `at least ${min}`, max === undefined ? '' : `at most ${max}`]
  const words = wanted.filter((word) => word !== '').join(' and ')
  const reason = passed ? `is ${number}, ${words} wanted` : `must be ${words}, is ${number}`
  return { passed, reason, facts: { port, value: number } }
}
