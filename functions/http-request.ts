import * as z from 'zod'
import { readJson } from '../shared/api/json-guard.ts'
import type { RouteSchema } from '../shared/api/route-schema.ts'
import { issuesOf } from '../shared/api/zod-issues.ts'
import { Fault } from '../shared/errors.ts'
import { DECLARED_HEADER, type Declared, readDeclared } from '../shared/principal.ts'

/** The part of API Gateway's REST proxy event that routes read; the local server makes the same. */
export interface HttpEvent {
  readonly httpMethod: string
  readonly resource?: string
  readonly path: string
  readonly pathParameters: Readonly<Record<string, string>> | null
  readonly queryStringParameters: Readonly<Record<string, string>> | null
  /** Every value of each; the member before has only the last one. */
  readonly multiValueQueryStringParameters?: Readonly<Record<string, readonly string[]>> | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly isBase64Encoded: boolean
  readonly requestContext?: unknown
}

/** What a route's schemas made of a request. */
export interface ParsedRequest {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly idempotencyKey?: string
  /** What the client says of itself. */
  readonly declared?: Declared
}

/**
 * Checks and parses one request, cheapest guard first: size (413), content type (415), UTF-8, JSON guards, then the
 * strict schemas (400 with at most 20 issues). A malformed path parameter is 404: there is nothing of that name.
 */
export function parseRequest(event: HttpEvent, schema: RouteSchema, maxBytes: number): ParsedRequest {
  const headers = lowerCased(event.headers)
  refuseDoubled(event.multiValueQueryStringParameters ?? {})
  const idempotencyKey = headers['idempotency-key']
  if (idempotencyKey !== undefined && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    const message = 'Cannot use this Idempotency-Key: 1 to 255 visible ASCII characters are allowed, without spaces.'
    throw new Fault('InvalidInput', 'bad_idempotency_key', message)
  }
  const declared = readDeclared(headers[DECLARED_HEADER])
  return {
    params: readParams(event.pathParameters ?? {}, schema),
    query: readQuery(event.queryStringParameters ?? {}, schema),
    body: schema.body === undefined ? undefined : readBody(event, headers, schema, maxBytes),
    headers,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(declared === undefined ? {} : { declared }),
  }
}

/** API Gateway writes null where there are none, and for one without a value. */
function lowerCased(headers: Readonly<Record<string, string | null>> | null): Record<string, string> {
  const given = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [[name.toLowerCase(), value] as const],
  )
  return Object.fromEntries(given)
}

/** Of two values one would be taken in silence. */
function refuseDoubled(query: Readonly<Record<string, readonly string[]>>): void {
  const issues = Object.entries(query).flatMap(([path, values]) =>
    values.length < 2
      ? []
      : [{ path: path.slice(0, 100), message: `it is given ${values.length} times`, hint: 'Give it once.' }],
  )
  const [first] = issues
  if (first === undefined) return
  const message = `Cannot read the query: "${first.path}" ${first.message.slice(3)}. ${first.hint}`
  throw new Fault('InvalidInput', 'bad_query', message, { issues: issues.slice(0, 20) })
}

function readParams(params: Readonly<Record<string, string>>, schema: RouteSchema): unknown {
  if (schema.params === undefined) return undefined
  const parsed = schema.params.safeParse(params)
  if (parsed.success) return parsed.data
  const issues = issuesOf(parsed.error, schema.params)
  const seen = JSON.stringify(String(params[issues[0]?.path ?? ''] ?? '').slice(0, 100))
  const code = issues[0]?.path === 'run_id' ? 'unknown_run' : 'not_found'
  throw new Fault('NotFound', code, `Cannot find ${seen}: ${issues[0]?.message ?? 'not a known name'}.`, { issues })
}

function readQuery(query: Readonly<Record<string, string>>, schema: RouteSchema): unknown {
  if (schema.query !== undefined) return parsePart('query', query, schema.query)
  const [unknown] = Object.keys(query)
  if (unknown === undefined) return undefined
  const issue = { path: unknown, message: `Unknown key "${unknown.slice(0, 100)}"`, hint: 'allowed: nothing' }
  throw new Fault('InvalidInput', 'bad_query', 'Cannot read the query: this route takes none.', { issues: [issue] })
}

function readBody(
  event: HttpEvent,
  headers: Readonly<Record<string, string>>,
  { body: schema = z.unknown(), body_type }: RouteSchema,
  maxBytes: number,
) {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.byteLength > maxBytes) throw tooLarge(bytes.byteLength, maxBytes)
  if (body_type === '*/*') return parsePart('body', bytes, schema)
  if (bytes.byteLength === 0) return parsePart('body', {}, schema)
  checkType(headers['content-type'])
  return parsePart('body', readJson(utf8(bytes)), schema)
}

function tooLarge(bytes: number, maxBytes: number): Fault {
  const message = `Cannot take the body: it has ${bytes} bytes, at most ${maxBytes} are allowed.`
  return new Fault('LimitExceeded', 'body_too_large', message, { status: 413, facts: { max_bytes: maxBytes } })
}

function checkType(type: string | undefined): void {
  if (/^application\/(?:[a-z.+-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type ?? '')) return
  const seen = type === undefined ? 'no Content-Type' : `Content-Type "${type.slice(0, 100)}"`
  const message = `Cannot read the body: it came with ${seen}; send application/json in UTF-8.`
  throw new Fault('InvalidInput', 'unsupported_media_type', message, { status: 415 })
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Fault('InvalidInput', 'not_utf8', 'Cannot read the body: it is not valid UTF-8.', { cause })
  }
}

function parsePart(part: 'query' | 'body', value: unknown, schema: z.ZodType): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = issuesOf(parsed.error, schema)
  const first = issues[0]
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `
  const message = `Cannot read the ${part}: ${where}${first?.message ?? 'it does not fit the schema'}.`
  throw new Fault('InvalidInput', `bad_${part}`, message, { issues })
}
