import * as z from 'zod'
import type { Json } from '../canonical.ts'
import { isVisible } from './code-points.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, unusable, wrongType } from './read-port.ts'

const NotEmptySchema = z.strictObject({ port: PortNameSchema })
type NotEmpty = z.infer<typeof NotEmptySchema>

export const notEmpty: Gate<NotEmpty> = {
  type: 'not_empty',
  summary:
    'Passes when the port holds something: text that can be seen, a list or object with members, any number or boolean.',
  params: NotEmptySchema,
  reads: ({ port }) => [port],
  examples: [
    { check: { port: 'plan' }, outputs: { plan: 'a plan' }, passes: true },
    { check: { port: 'plan' }, outputs: { plan: ' \n' }, passes: false },
  ],
  check,
}

function check({ port }: NotEmpty, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  if (value === undefined || unusable(port, value) !== undefined) return wrongType(port, 'a value', value)
  const empty = emptiness(value)
  if (empty === undefined) return { passed: true, reason: `port ${port} is not empty`, facts: { port } }
  return { passed: false, reason: `port ${port} must not be empty, is ${empty}`, facts: { port } }
}

function emptiness(value: Json): string | undefined {
  if (typeof value === 'string') return isVisible(value) ? undefined : 'blank text'
  if (typeof value !== 'object' || value === null || Object.keys(value).length > 0) return undefined
  return Array.isArray(value) ? 'an empty list' : 'an empty object'
}
