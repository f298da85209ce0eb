import * as z from 'zod'
import { ROUTES, type RouteLine } from '../routes.ts'
import { type Definitions, openDefinitions } from './hoist-definitions.ts'
import { ProblemSchema } from './problem-schema.ts'
import type { RouteSchema } from './route-schema.ts'
import { ROUTE_SCHEMAS } from './route-schemas.ts'
import { type AuthMode, securityOf, securitySchemes } from './security-schemes.ts'

/** OpenAPI 3.1 document of every route of the catalog, made of the schemas that parse the requests. */
export function openApi(version: string, mode: AuthMode = 'none') {
  const paths: Record<string, Record<string, unknown>> = {}
  const definitions = openDefinitions()
  for (const line of ROUTES) {
    const path = line.path.replace('+}', '}')
    const operations = paths[path] ?? {}
    operations[line.method.toLowerCase()] = operation(line, mode, definitions)
    paths[path] = operations
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version, description: 'Gated DAG runs of AI-agent work.' },
    paths,
    components: {
      schemas: { Problem: jsonSchema(ProblemSchema, 'output', definitions), ...definitions.schemas },
      ...(mode === 'none' ? {} : { securitySchemes: securitySchemes(mode) }),
    },
  }
}

function operation({ name, method, scope, signed_by }: RouteLine, mode: AuthMode, definitions: Definitions) {
  const schema = ROUTE_SCHEMAS[name]
  if (schema === undefined) throw new TypeError(`openApi() found no schema of route "${name}"`)
  return {
    operationId: name,
    summary: schema.summary,
    // Who signs its requests itself is asked for nothing else.
    ...(mode === 'none' ? {} : { security: signed_by === undefined ? securityOf(mode, scope) : [] }),
    parameters: [
      ...parameters(schema.params, 'path', definitions),
      ...parameters(schema.query, 'query', definitions),
      ...(method === 'GET' || signed_by !== undefined ? [] : [IDEMPOTENCY_KEY]),
      ...(schema.media_type === 'text/event-stream' ? [LAST_EVENT_ID] : []),
    ],
    ...requestBody(schema, definitions),
    responses: {
      [String(schema.status ?? 200)]: {
        description: schema.summary,
        content: {
          [schema.media_type ?? 'application/json']: { schema: jsonSchema(schema.answer, 'output', definitions) },
        },
      },
      ...alsoAnswered(schema, definitions),
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

function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query', definitions: Definitions) {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    // The output side: a query's whole number is a number here, though it travels as digits.
    const shape = jsonSchema(field as z.ZodType, 'output', definitions)
    const required = place === 'path' || !accepts(field, undefined)
    return { name, in: place, required, ...(shape.type === 'array' ? COMMAS : {}), schema: shape }
  })
}

/** A list travels as one value with commas. */
const COMMAS = { style: 'form', explode: false }

function accepts(field: z.core.$ZodType, value: unknown): boolean {
  return z.safeParse(field, value).success
}

function requestBody({ body, body_type = 'application/json' }: RouteSchema, definitions: Definitions) {
  if (body === undefined) return {}
  const content = { [body_type]: { schema: jsonSchema(body, 'input', definitions) } }
  return { requestBody: { required: !accepts(body, {}), content } }
}

function alsoAnswered({ also }: RouteSchema, definitions: Definitions) {
  if (also === undefined) return {}
  const { status, description, answer } = also
  return {
    [String(status)]: {
      description,
      content: { 'application/json': { schema: jsonSchema(answer, 'output', definitions) } },
    },
  }
}

/** Open API 3.1 speaks JSON Schema 2020-12; what has no JSON form (free JSON values) is the empty schema. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', definitions: Definitions) {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: anyJson })
  return definitions.hoist(rest)
}

/** z.json() spelled out refers to itself, which no typed client can express; any JSON is what the empty schema says. */
function anyJson({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: object }): void {
  if (zodSchema._zod.def.type !== 'lazy') return
  for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Record<string, unknown>)[key]
}
