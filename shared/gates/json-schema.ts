import * as z from 'zod'
import type { CheckResult, Gate, GateFacts, Held } from './gate.ts'
import type { GatePorts } from './gate-ports.ts'
import { PortNameSchema } from './port-name.ts'
import { JsonSchemaParam } from './programs.ts'
import { readPort, unusable } from './read-port.ts'
import { readSchemaAnswer } from './schema-answer.ts'

const JsonSchemaSchema = z.strictObject({
  port: PortNameSchema,
  schema: JsonSchemaParam,
})
type JsonSchema = z.infer<typeof JsonSchemaSchema>

export const jsonSchema: Gate<JsonSchema> = {
  type: 'json_schema',
  summary: 'Passes when the value of the port is valid under a JSON Schema (draft 2020-12; `format` is not asserted).',
  params: JsonSchemaSchema,
  reads: ({ port }) => [port],
  passesOn: ({ schema }) => heldBySchema(schema),
  programs: ({ schema }) => [{ path: 'schema', schema }],
  examples: [
    {
      check: { port: 'row', schema: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } },
      outputs: { row: { id: 7 } },
      passes: true,
    },
    { check: { port: 'row', schema: { type: 'object', required: ['id'] } }, outputs: { row: {} }, passes: false },
  ],
  check,
}

/** What the `type` of a schema lets through; without one anything. */
function heldBySchema(schema: JsonSchema['schema']): readonly Held[] {
  const type = typeof schema === 'object' && schema !== null && 'type' in schema ? schema.type : undefined
  if (type === undefined) return ['text', 'number', 'boolean']
  return [type].flat().flatMap((name) => HELD[String(name)] ?? [])
}

const HELD: Readonly<Record<string, Held>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
}

async function check({ port, schema }: JsonSchema, facts: GateFacts, ports: GatePorts): Promise<CheckResult> {
  const value = readPort(facts, port)
  if (value === undefined || value === null) {
    return { passed: false, reason: unusable(port, value) ?? `missing port ${port}`, facts: { port } }
  }
  const answer = readSchemaAnswer(await ports.isolate.run('json_schema', { program: schema, input: value }))
  if (!answer.ok) return { passed: false, error: true, reason: `cannot check the schema: ${answer.message}` }
  if (answer.valid) return { passed: true, reason: 'is valid under its schema', facts: { port } }
  const reason = `must be valid under its schema: ${answer.errors.join('; ')}`
  return { passed: false, reason, facts: { port, errors: answer.errors } }
}
