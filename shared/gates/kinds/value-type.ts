import * as z from 'zod'
import type { Json } from '../../text/json.ts'
import { safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts, Held } from '../gate.ts'
import type { GatePorts } from '../gate-ports.ts'
import { PortNameSchema, readPortRef, unusableReason, wrongTypeResult } from '../read-facts.ts'

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
  check: checkType,
}

function checkType({ port, expected }: PortType, facts: GateFacts): CheckResult {
  const value = readPortRef(facts, port)
  if (value === undefined || unusableReason(port, value) !== undefined) return wrongTypeResult(port, expected, value)
  if (TYPES[expected](value)) return { passed: true, reason: `port ${port} is ${expected}`, facts: { port, expected } }
  // The type is what is judged here, so the negation may pass.
  const { unfit: _, ...judged } = wrongTypeResult(port, `of type ${expected}`, value)
  return judged
}

/** `port_type` is its name in other systems. */
export const typeIs: typeof portType = { ...portType, type: 'type_is' }

const REF = /^objstore:\/\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/[0-9a-f]{64}$/

const ArtifactExistsSchema = z.strictObject({
  port: PortNameSchema,
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'a sha256 is 64 hex digits in lower case')
    .optional(),
  min_bytes: z.int().min(0).default(0),
})
type ArtifactExists = z.infer<typeof ArtifactExistsSchema>

export const artifactExists: Gate<ArtifactExists> = {
  type: 'artifact_exists',
  summary:
    'Passes when the object whose ref is in the port is stored and undamaged, with this `sha256` and at least `min_bytes` bytes where they are given.',
  params: ArtifactExistsSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  sees: ({ port }, facts) => facts.refs?.[port] ?? null,
  examples: [
    {
      check: { port: 'file', min_bytes: 1 },
      outputs: { file: 'objstore://main/5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03' },
      passes: true,
      needs: 'objectFacts',
    },
    { check: { port: 'file' }, outputs: { file: 'report.md' }, passes: false, needs: 'objectFacts' },
  ],
  check: checkArtifact,
}

async function checkArtifact(params: ArtifactExists, facts: GateFacts, ports: GatePorts): Promise<CheckResult> {
  const { port, sha256, min_bytes } = params
  const ref = readPortRef(facts, port)
  if (typeof ref !== 'string') return wrongTypeResult(port, 'an object ref', ref)
  if (ports.objectFacts === undefined) {
    return { passed: false, error: true, reason: 'objects cannot be looked at in this place', facts: { port } }
  }
  const shown = safeOneLine(ref, 120)
  if (!REF.test(ref)) {
    const reason = `port ${port} must be an object ref (objstore://tenant/sha256), is "${shown}"`
    return { passed: false, reason, facts: { port } }
  }
  const object = await ports.objectFacts(ref)
  if (object === undefined)
    return { passed: false, reason: `must be stored: there is no object ${shown}`, facts: { port } }
  const told = { port, sha256: object.sha256, bytes: object.bytes }
  if (sha256 !== undefined && object.sha256 !== sha256) {
    return { passed: false, reason: `must have sha256 ${sha256}, has ${object.sha256}`, facts: told }
  }
  if (object.bytes >= min_bytes) return { passed: true, reason: `is stored, ${object.bytes} bytes`, facts: told }
  return { passed: false, reason: `must be at least ${min_bytes} bytes, has ${object.bytes}`, facts: told }
}
