import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import type { GatePorts } from './gate-ports.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readRef, wrongType } from './read-port.ts'

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
  check,
}

async function check(params: ArtifactExists, facts: GateFacts, ports: GatePorts): Promise<CheckResult> {
  const { port, sha256, min_bytes } = params
  const ref = readRef(facts, port)
  if (typeof ref !== 'string') return wrongType(port, 'an object ref', ref)
  if (ports.objectFacts === undefined) {
    return { passed: false, error: true, reason: 'objects cannot be looked at in this place', facts: { port } }
  }
  const shown = oneSentence(ref, 120)
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
