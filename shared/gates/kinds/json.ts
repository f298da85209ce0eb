import * as z from 'zod'
import { firstJson, isSearchedWhole } from '../../text/embedded-json.ts'
import { canonicalJson, type Json } from '../../text/json.ts'
import { quotedList, safeOneLine } from '../../text/redact.ts'
import { jsonProblem, MAX_DEPTH, nestsTooDeep } from '../../text/strict-json.ts'
import type { CheckResult, Gate, GateFacts, Held } from '../gate.ts'
import type { GatePorts } from '../gate-ports.ts'
import { parseText } from '../parse-json-csv.ts'
import { PortNameSchema, readPort, unusableReason, wrongTypeResult } from '../read-facts.ts'
import { JsonSchemaParam, readSchemaAnswer } from '../schema-limits.ts'

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
  check: checkValidJson,
}

async function checkValidJson({ port }: ValidJson, facts: GateFacts, { isolate }: GatePorts): Promise<CheckResult> {
  const value = readPort(facts, port)
  if (typeof value === 'object' && value !== null) return { passed: true, reason: 'is a JSON value', facts: { port } }
  if (typeof value !== 'string') return wrongTypeResult(port, 'JSON text, an object or a list', value)
  if (nestsTooDeep(value)) {
    // Nobody parsed it, so nobody knows that it is no JSON.
    const reason = `port ${port} must be JSON of at most ${MAX_DEPTH} levels, nests deeper`
    return { passed: false, unfit: true, reason, facts: { port, most_levels: MAX_DEPTH } }
  }
  const read = await parseText('json', value, isolate)
  if ('error' in read) return { passed: false, error: true, reason: `cannot read port ${port} as JSON: ${read.error}` }
  if (!('problem' in read)) return { passed: true, reason: 'is JSON text', facts: { port } }
  const { problem } = read
  return { passed: false, reason: `must be valid JSON: ${problem}`, facts: { port, problem } }
}

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
  check: checkContainsJson,
}

async function checkContainsJson(
  { port, schema }: ContainsJson,
  facts: GateFacts,
  ports: GatePorts,
): Promise<CheckResult> {
  const seen = readPort(facts, port)
  if (typeof seen !== 'string') return wrongTypeResult(port, 'text', seen)
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
    return isSearchedWhole(seen) ? { passed: false, ...told } : { passed: false, unfit: true, ...told }
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
  check: checkJsonSchema,
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

async function checkJsonSchema({ port, schema }: JsonSchema, facts: GateFacts, ports: GatePorts): Promise<CheckResult> {
  const value = readPort(facts, port)
  if (value === undefined || value === null) {
    return { passed: false, reason: unusableReason(port, value) ?? `missing port ${port}`, facts: { port } }
  }
  const answer = readSchemaAnswer(await ports.isolate.run('json_schema', { program: schema, input: value }))
  if (!answer.ok) return { passed: false, error: true, reason: `cannot check the schema: ${answer.message}` }
  if (answer.valid) return { passed: true, reason: 'is valid under its schema', facts: { port } }
  const reason = `must be valid under its schema: ${answer.errors.join('; ')}`
  return { passed: false, reason, facts: { port, errors: answer.errors } }
}

/** `a.b[0]["odd key"]`, with or without `$.` in front: names, list positions from 0, quoted keys. */
const PATH =
  /^\$?(?:\.?[A-Za-z_][\w-]*|\[\d{1,9}\]|\["[^"\\]{0,200}"\])(?:\.[A-Za-z_][\w-]*|\[\d{1,9}\]|\["[^"\\]{0,200}"\])*$/
const STEP = /\.?([A-Za-z_][\w-]*)|\[(\d+)\]|\["([^"]*)"\]/g

const JsonPathSchema = z
  .strictObject({
    port: PortNameSchema,
    path: z.string().max(500).regex(PATH, 'a path such as rows[0].name or ["odd key"], without wildcards'),
    equals: z.json().optional(),
    min: z.number().optional(),
    max: z.number().optional(),
  })
  .refine(({ equals, min, max }) => equals === undefined || (min === undefined && max === undefined), {
    message: 'give equals, or min and max, not both',
  })
type JsonPath = z.infer<typeof JsonPathSchema>

/** Without equals, min and max a value that is not null is enough. */
export const jsonPath: Gate<JsonPath> = {
  type: 'json_path',
  summary: 'Passes when the value at `path` inside the port is there and equals `equals`, or lies from `min` to `max`.',
  params: JsonPathSchema,
  reads: ({ port }) => [port],
  judges: () => [],
  examples: [
    {
      check: { port: 'result', path: 'rows[0].id', equals: 7 },
      outputs: { result: { rows: [{ id: 7 }] } },
      passes: true,
    },
    { check: { port: 'result', path: 'score', min: 0.5 }, outputs: { result: { score: 0.4 } }, passes: false },
  ],
  check: checkJsonPath,
}

function checkJsonPath({ port, path, equals, min, max }: JsonPath, facts: GateFacts): CheckResult {
  const whole = readPort(facts, port)
  if (typeof whole !== 'object' || whole === null) return wrongTypeResult(port, 'an object or a list', whole)
  const value = valueAt(whole, path)
  if (value === undefined || value === null) {
    const told = { reason: `port ${port} has no value at ${path}`, facts: { port, path } }
    // Whether there is one may be all that is asked; what is not there equals nothing and is in no range.
    const asked = equals === undefined && min === undefined && max === undefined
    return asked ? { passed: false, ...told } : { passed: false, unfit: true, ...told }
  }
  const shown = safeOneLine(JSON.stringify(value), 80)
  const problem = valueProblem(value, equals, min, max)
  const told = { port, path, value: shown }
  if (problem === undefined) return { passed: true, reason: `${path} is ${shown}`, facts: told }
  const reason = `${path} must ${problem}, is ${shown}`
  return problem === NO_NUMBER
    ? { passed: false, unfit: true, reason, facts: told }
    : { passed: false, reason, facts: told }
}

function valueAt(whole: Json, path: string): Json | undefined {
  let value: Json | undefined = whole
  for (const [, name, position, key] of path.replace(/^\$/, '').matchAll(STEP)) {
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value) !== (position !== undefined)) return undefined
    const step = name ?? position ?? key ?? ''
    value = Object.hasOwn(value, step) ? (value as Readonly<Record<string, Json>>)[step] : undefined
  }
  return value
}

const NO_NUMBER = 'be a number'

function valueProblem(value: Json, equals: Json | undefined, min?: number, max?: number): string | undefined {
  if (equals !== undefined) {
    return canonicalJson(value) === canonicalJson(equals) ? undefined : `be ${safeOneLine(JSON.stringify(equals), 80)}`
  }
  if (min === undefined && max === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value)) return NO_NUMBER
  if (min !== undefined && value < min) return `be at least ${min}`
  return max !== undefined && value > max ? `be at most ${max}` : undefined
}

const KeysPresentSchema = z.strictObject({
  port: PortNameSchema,
  keys: z.array(z.string().min(1).max(200)).min(1).max(100),
})
type KeysPresent = z.infer<typeof KeysPresentSchema>

export const keysPresent: Gate<KeysPresent> = {
  type: 'keys_present',
  summary:
    'Passes when the object of the port, or each object of its list, has every key with a value that is not null.',
  params: KeysPresentSchema,
  reads: ({ port }) => [port],
  judges: () => [],
  examples: [
    { check: { port: 'row', keys: ['id', 'name'] }, outputs: { row: { id: 1, name: '' } }, passes: true },
    { check: { port: 'rows', keys: ['id'] }, outputs: { rows: [{ id: 1 }, { id: null }] }, passes: false },
  ],
  check: checkKeys,
}

function checkKeys({ port, keys }: KeysPresent, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  if (typeof value !== 'object' || value === null) return wrongTypeResult(port, 'an object or a list of objects', value)
  const isList = Array.isArray(value)
  const items: readonly Json[] = isList ? value : [value]
  if (items.length === 0) {
    return { passed: false, unfit: true, reason: `port ${port} is an empty list`, facts: { port } }
  }
  for (const [at, item] of items.entries()) {
    const missing = keys.filter((key) => !has(item, key))
    if (missing.length === 0) continue
    const where = isList ? ` in item ${at}` : ''
    return {
      passed: false,
      reason: `must have the keys ${quotedList(missing)}${where}`,
      facts: { port, missing, item: at },
    }
  }
  return { passed: true, reason: `has the keys ${quotedList(keys)}`, facts: { port, items: items.length } }
}

function has(item: Json, key: string): boolean {
  if (typeof item !== 'object' || item === null || Array.isArray(item) || !Object.hasOwn(item, key)) return false
  const value = (item as Readonly<Record<string, Json>>)[key]
  return value !== null && value !== undefined
}
