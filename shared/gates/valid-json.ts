import * as z from 'zod'
import { MAX_DEPTH, nestsTooDeep } from '../json-problem.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import type { GatePorts } from './gate-ports.ts'
import { parseApart } from './parse-apart.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const ValidJsonSchema = z.strictObject({ port: PortNameSchema })
type ValidJson = z.infer<typeof ValidJsonSchema>

export const validJson: Gate<ValidJson> = {
  type: 'valid_json',
  summary:
    'Passes when the text of the port parses as JSON (at most 64 levels), or the port already is an object or a list.',
  params: ValidJsonSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'patch' }, outputs: { patch: '{"file": "a.ts"}' }, passes: true },
    { check: { port: 'patch' }, outputs: { patch: 'Here is the patch: {}' }, passes: false },
  ],
  check,
}

async function check({ port }: ValidJson, facts: GateFacts, { isolate }: GatePorts): Promise<CheckResult> {
  const value = readPort(facts, port)
  if (typeof value === 'object' && value !== null) return { passed: true, reason: 'is a JSON value', facts: { port } }
  if (typeof value !== 'string') return wrongType(port, 'JSON text, an object or a list', value)
  if (nestsTooDeep(value)) {
    // Nobody parsed it, so nobody knows that it is no JSON.
    const reason = `port ${port} must be JSON of at most ${MAX_DEPTH} levels, nests deeper`
    return { passed: false, unfit: true, reason, facts: { port, most_levels: MAX_DEPTH } }
  }
  const read = await parseApart('json', value, isolate)
  if ('error' in read) return { passed: false, error: true, reason: `cannot read port ${port} as JSON: ${read.error}` }
  if (!('problem' in read)) return { passed: true, reason: 'is JSON text', facts: { port } }
  const { problem } = read
  return { passed: false, reason: `must be valid JSON: ${problem}`, facts: { port, problem } }
}
