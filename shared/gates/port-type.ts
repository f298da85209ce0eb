import * as z from 'zod'
import type { Json } from '../canonical.ts'
import type { CheckResult, Gate, GateFacts, Held } from './gate.ts'
import { PortNameSchema } from './port-name.ts'
import { readRef, unusable, wrongType } from './read-port.ts'

const OBJECT_REF = /^objstore:\/\/[^/\s]+\/[0-9a-f]{64}$/
const isObjectRef = (value: Json): boolean => typeof value === 'string' && OBJECT_REF.test(value)

/** The port types, and the two shapes a json port can have. */
const TYPES = {
  string: (value: Json) => typeof value === 'string',
  number: (value: Json) => typeof value === 'number',
  boolean: (value: Json) => typeof value === 'boolean',
  json: () => true,
  object: (value: Json) => typeof value === 'object' && !Array.isArray(value),
  array: (value: Json) => Array.isArray(value),
  file: isObjectRef,
  artifact: isObjectRef,
} as const satisfies Record<string, (value: Json) => boolean>

/** A text may be an object ref, a ref is a text. */
const HELD: Readonly<Record<keyof typeof TYPES, readonly Held[]>> = {
  string: ['text'],
  file: ['text'],
  artifact: ['text'],
  number: ['number'],
  boolean: ['boolean'],
  json: ['text', 'number', 'boolean'],
  object: [],
  array: [],
}

const PortTypeSchema = z.strictObject({
  port: PortNameSchema,
  expected: z.enum(Object.keys(TYPES) as [keyof typeof TYPES, ...(keyof typeof TYPES)[]]),
})
type PortType = z.infer<typeof PortTypeSchema>

/** A name existing DAG files use (docs/gates.md, "Names of other systems"). */
export const portType: Gate<PortType> = {
  type: 'port_type',
  summary: 'Passes when the value of the port has the expected type (file and artifact: an object ref).',
  params: PortTypeSchema,
  reads: ({ port }) => [port],
  passesOn: ({ expected }) => HELD[expected],
  sees: ({ port }, facts) => facts.refs?.[port] ?? null,
  examples: [
    { check: { port: 'rows', expected: 'array' }, outputs: { rows: [1, 2] }, passes: true },
    { check: { port: 'rows', expected: 'array' }, outputs: { rows: '[1, 2]' }, passes: false },
  ],
  check,
}

function check({ port, expected }: PortType, facts: GateFacts): CheckResult {
  const value = readRef(facts, port)
  if (value === undefined || unusable(port, value) !== undefined) return wrongType(port, expected, value)
  if (TYPES[expected](value)) return { passed: true, reason: `port ${port} is ${expected}`, facts: { port, expected } }
  // The type is what is judged here, so the negation may pass.
  const { unfit: _, ...judged } = wrongType(port, `of type ${expected}`, value)
  return judged
}
