import * as z from 'zod'
import { jsonProblem } from '../json-problem.ts'
import { firstJson, isTriedWhole } from './first-json.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import type { GatePorts } from './gate-ports.ts'
import { jsonSchema } from './json-schema.ts'
import { PortNameSchema } from './port-name.ts'
import { JsonSchemaParam } from './programs.ts'
import { readPort, wrongType } from './read-port.ts'

/** Bytes of text looked through. */
const MAX_BYTES = 1_048_576

const ContainsJsonSchema = z.strictObject({ port: PortNameSchema, schema: JsonSchemaParam.optional() })
type ContainsJson = z.infer<typeof ContainsJsonSchema>

/** The first object or list in the text that parses. */
export const containsJson: Gate<ContainsJson> = {
  type: 'contains_json',
  summary: 'Passes when a JSON object or list stands in the text of the port; the first must be valid under `schema`.',
  params: ContainsJsonSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  programs: ({ schema }) => (schema === undefined ? [] : [{ path: 'schema', schema }]),
  examples: [
    { check: { port: 'answer' }, outputs: { answer: 'Here it is: {"id": 7} as asked.' }, passes: true },
    { check: { port: 'answer' }, outputs: { answer: 'Here it is: {id: 7}' }, passes: false },
  ],
  check,
}

async function check({ port, schema }: ContainsJson, facts: GateFacts, ports: GatePorts): Promise<CheckResult> {
  const seen = readPort(facts, port)
  if (typeof seen !== 'string') return wrongType(port, 'text', seen)
  if (Buffer.byteLength(seen) > MAX_BYTES) {
    return {
      passed: false,
      unfit: true,
      reason: `port ${port} has more than the ${MAX_BYTES} bytes that are searched`,
      facts: { port },
    }
  }
  const found = firstJson(seen)
  if (found === undefined) {
    const told = { reason: 'must contain a JSON object or list', facts: { port } }
    // With more brackets than are tried nobody knows that there is none.
    return isTriedWhole(seen) ? { passed: false, ...told } : { passed: false, unfit: true, ...told }
  }
  const problem = jsonProblem(found)
  if (problem?.code === 'json_too_deep') {
    return {
      passed: false,
      unfit: true,
      reason: `the JSON in port ${port} is not judged: ${problem.text}`,
      facts: { port },
    }
  }
  if (schema === undefined) return { passed: true, reason: 'contains JSON', facts: { port } }
  return jsonSchema.check({ port, schema }, { ...facts, outputs: { [port]: found } }, ports)
}
