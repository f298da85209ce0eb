import * as z from 'zod'
import { codePoints } from './code-points.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const MinLengthSchema = z.strictObject({ port: PortNameSchema, min: z.int().min(0) })
type MinLength = z.infer<typeof MinLengthSchema>

export const minLength: Gate<MinLength> = {
  type: 'min_length',
  summary: 'Passes when a text has at least `min` characters (code points), or a list at least `min` items.',
  params: MinLengthSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'plan', min: 5 }, outputs: { plan: 'a plan' }, passes: true },
    { check: { port: 'steps', min: 2 }, outputs: { steps: ['only one'] }, passes: false },
  ],
  check,
}

function check({ port, min }: MinLength, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  const isText = typeof value === 'string'
  if (!isText && !Array.isArray(value)) return wrongType(port, 'text or a list', value)
  const length = isText ? codePoints(value) : value.length
  const unit = isText ? 'characters' : 'items'
  const passed = length >= min
  const reason = passed
    ? `has ${length} ${unit}, at least ${min} wanted`
    : `must be at least ${min} ${unit}, has ${length}`
  return { passed, reason, facts: { port, length, min } }
}
