import * as z from 'zod'
import { codePoints } from './code-points.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const MaxLengthSchema = z.strictObject({ port: PortNameSchema, max: z.int().min(0) })
type MaxLength = z.infer<typeof MaxLengthSchema>

export const maxLength: Gate<MaxLength> = {
  type: 'max_length',
  summary: 'Passes when a text has at most `max` characters (code points), or a list at most `max` items.',
  params: MaxLengthSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'title', max: 60 }, outputs: { title: 'Release notes' }, passes: true },
    { check: { port: 'steps', max: 1 }, outputs: { steps: ['one', 'two'] }, passes: false },
  ],
  check,
}

function check({ port, max }: MaxLength, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  const isText = typeof value === 'string'
  if (!isText && !Array.isArray(value)) return wrongType(port, 'text or a list', value)
  const length = isText ? codePoints(value) : value.length
  const unit = isText ? 'characters' : 'items'
  const passed = length <= max
  const reason = passed
    ? `has ${length} ${unit}, at most ${max} wanted`
    : `must be at most ${max} ${unit}, has ${length}`
  return { passed, reason, facts: { port, length, max } }
}
