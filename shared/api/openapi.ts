import * as z from 'zod'
import { ROUTES, type RouteLine } from '../catalog.ts'
import { ProblemSchema } from './problem-schema.ts'
import type { RouteSchema } from './route-schema.ts'
import { ROUTE_SCHEMAS } from './route-schemas.ts'

/** OpenAPI 3.1 document of every route of the catalog, made of the schemas that parse the requests. */
export function openApi(version: string) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const line of ROUTES) {
    const path = line.path.replace('+}', '}')
    const operations = paths[path] ?? {}
    operations[line.method.toLowerCase()] = operation(line)
    paths[path] = operations
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version, description: 'Gated DAG runs of AI-agent work.' },
    paths,
    components: { schemas: { Problem: jsonSchema(ProblemSchema, 'output') } },
  }
}

function operation({ name, method, signed_by }: RouteLine) {
  const schema = ROUTE_SCHEMAS[name]
  if (schema === undefined) throw new TypeError(`openApi() found no schema of route "${name}"`)
  return {
    operationId: name,
    summary: schema.summary,
    parameters: [
      ...parameters(schema.params, 'path'),
      ...parameters(schema.query, 'query'),
      ...(method === 'GET' || signed_by !== undefined ? [] : [IDEMPOTENCY_KEY]),
      ...(schema.media_type === 'text/event-stream' ? [LAST_EVENT_ID] : []),
    ],
    ...requestBody(schema),
    responses: {
      [String(schema.status ?? 200)]: {
        description: schema.summary,
        content: { [schema.media_type ?? 'application/json']: { schema: jsonSchema(schema.answer, 'output') } },
      },
      ...alsoAnswered(schema),
      default: {
        description: 'What went wrong',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  }
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
}

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'seq of the last event seen; wins over since',
  schema: { type: 'string', pattern: '^[0-9]{1,9}$' },
}

function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query') {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => ({
    name,
    in: place,
    required: place === 'path' || !accepts(field, undefined),
    // The output side: a query's whole number is a number here, though it travels as digits.
    schema: jsonSchema(field as z.ZodType, 'output'),
  }))
}

function accepts(field: z.core.$ZodType, value: unknown): boolean {
  return z.safeParse(field, value).success
}

function requestBody({ body, body_type = 'application/json' }: RouteSchema) {
  if (body === undefined) return {}
  const content = { [body_type]: { schema: jsonSchema(body, 'input') } }
  return { requestBody: { required: !accepts(body, {}), content } }
}

function alsoAnswered({ also }: RouteSchema) {
  if (also === undefined) return {}
  const { status, description, answer } = also
  return {
    [String(status)]: { description, content: { 'application/json': { schema: jsonSchema(answer, 'output') } } },
  }
}

/** Open API 3.1 speaks JSON Schema 2020-12; what has no JSON form (free JSON values) is the empty schema. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
