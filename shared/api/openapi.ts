import * as z from 'zod'
import type { Scope } from '../auth/scopes.ts'
import type { AuthSettings } from '../auth/settings.ts'
import { ROUTES, type RouteLine } from '../routes.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { BULK_ROUTES } from './bulk-routes.ts'
import { CONTROL_ROUTES } from './control-routes.ts'
import { DOCUMENT_ROUTES, VALIDATE_DAG } from './document-routes.ts'
import { ERASURE_ROUTES } from './erasure-routes.ts'
import { EVENT_ROUTES } from './event-routes.ts'
import { GOAL_ROUTES } from './goal-routes.ts'
import { GRAPH_ROUTES } from './graph-routes.ts'
import { LINEAGE_ROUTES } from './lineage-routes.ts'
import { OBJECT_ROUTES } from './object-routes.ts'
import { PAUSE_ROUTES } from './pause-routes.ts'
import { PLACE_ROUTES } from './place-routes.ts'
import { RESEARCH_ROUTES } from './research-routes.ts'
import { ProblemSchema, type RouteSchema } from './route-schema.ts'
import { RUN_DATA_ROUTES } from './run-data-routes.ts'
import { RUN_ROUTES } from './run-routes.ts'
import { SEARCH_ROUTES } from './search-routes.ts'
import { SPENDING_ROUTES } from './spending-routes.ts'
import { STAGE_ROUTES } from './stage-routes.ts'
import { START_RUN } from './start-run-route.ts'
import { TOKEN_ROUTES } from './token-routes.ts'
import { TRIGGER_ROUTES } from './trigger-routes.ts'
import { RECORD_RUN, VERIFY_RUN } from './verify-routes.ts'
import { VIEW_ROUTES } from './view-routes.ts'
import { WEBHOOK_ROUTES } from './webhook-routes.ts'

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

/** The schemas of the routes of documents and runs. */
const DAG_SCHEMAS = {
  'start-run': START_RUN,
  'validate-dag': VALIDATE_DAG,
  ...DOCUMENT_ROUTES,
  ...RUN_ROUTES,
  'verify-run': VERIFY_RUN,
  'record-run': RECORD_RUN,
  ...RUN_DATA_ROUTES,
  ...CONTROL_ROUTES,
  ...PAUSE_ROUTES,
  ...SEARCH_ROUTES,
  ...BULK_ROUTES,
  ...VIEW_ROUTES,
  ...ERASURE_ROUTES,
  ...LINEAGE_ROUTES,
  ...GOAL_ROUTES,
} as const

/** The schemas of every route of the catalog, by name. */
export const ROUTE_SCHEMAS: Readonly<Record<string, RouteSchema>> = {
  ...PLACE_ROUTES,
  ...SPENDING_ROUTES,
  ...DAG_SCHEMAS,
  ...RESEARCH_ROUTES,
  ...GRAPH_ROUTES,
  ...OBJECT_ROUTES,
  ...STAGE_ROUTES,
  ...WEBHOOK_ROUTES,
  ...EVENT_ROUTES,
  ...TRIGGER_ROUTES,
  ...TOKEN_ROUTES,
}

type Schema = Readonly<Record<string, unknown>>

/** Where the definitions of an OpenAPI document stand: `#/components/schemas/NAME`. */
interface Definitions {
  /** The schema with its `$defs` moved here, and its references after them. Equal definitions are one. */
  hoist(schema: Schema): Schema
  readonly schemas: Readonly<Record<string, Schema>>
}

/**
 * JSON Schema of one part names what it repeats by `#/$defs/..`, from its own root; in an OpenAPI document that is the
 * root of the whole, where no such thing is.
 */
function openDefinitions(): Definitions {
  const schemas: Record<string, Schema> = {}
  const names = new Map<string, string>()
  const nameOf = (definition: unknown): string => {
    const text = canonicalJson(definition as Json)
    const name = names.get(text) ?? (text === '{}' ? 'AnyJson' : `Shared${names.size + 1}`)
    names.set(text, name)
    return name
  }
  const hoist = ({ $defs, ...schema }: Schema): Schema => {
    if ($defs === undefined) return schema
    const definitions = Object.entries($defs as Readonly<Record<string, Schema>>)
    const moved = new Map(definitions.map(([key, definition]) => [`#/$defs/${key}`, nameOf(definition)]))
    for (const [key, definition] of definitions) {
      schemas[moved.get(`#/$defs/${key}`) ?? key] = redirected(definition, moved) as Schema
    }
    return redirected(schema, moved) as Schema
  }
  return { hoist, schemas }
}

function redirected(value: unknown, moved: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => redirected(one, moved))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = key === '$ref' ? moved.get(String(inner)) : undefined
      return [key, name === undefined ? redirected(inner, moved) : `#/components/schemas/${name}`]
    }),
  )
}

/** How callers of a place prove who they are; `none` = it asks for no login. */
export type AuthMode = 'none' | 'iam' | AuthSettings['mode']

/** OpenAPI's word for it, if there is one. */
function securitySchemes(mode: AuthMode): Readonly<Record<string, object>> {
  return mode === 'none' ? {} : { [NAMES[mode]]: SCHEMES[mode] }
}

/** What a caller of one route needs; of the scheme that IAM's policies decide no scopes are told. */
function securityOf(mode: AuthMode, scope: Scope | undefined): readonly Readonly<Record<string, string[]>>[] {
  if (mode === 'none') return []
  return [{ [NAMES[mode]]: scope === undefined || mode === 'iam' ? [] : [scope] }]
}

const NAMES = { iam: 'sigv4', token: 'bearer', jwt: 'bearer' } as const

const SCHEMES: Readonly<Record<Exclude<AuthMode, 'none'>, object>> = {
  // As API Gateway itself writes it.
  iam: { type: 'apiKey', name: 'Authorization', in: 'header', 'x-amazon-apigateway-authtype': 'awsSigv4' },
  token: { type: 'http', scheme: 'bearer', bearerFormat: 'slu_<id>_<secret>' },
  jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
}
