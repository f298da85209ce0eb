import * as z from 'zod'
import { Fault } from '../errors.ts'
import { headerNameProblem, isBelowService, type ServiceSettings, serviceBase } from '../services/settings.ts'
import type { Json } from '../text/json.ts'
import { quoted } from '../text/wording.ts'
import { placeholderValue, renderTemplate, replaceReferences } from './template.ts'

/** What a block may ask a service for; all but GET may change something there. */
const SERVICE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** What one request may hold, beside what net-gate allows. */
const SERVICE_LIMITS = {
  /** Characters of `path`, of a text of `query` and of one of `headers`, as they are written. */
  text_characters: 2_000,
  query: 50,
  headers: 20,
  accept: 50,
  /** Characters of the whole URL with its values in place. */
  url_characters: 8_192,
  /** Characters of a header with its values in place. */
  header_characters: 2_000,
  /** Bytes of the body as JSON. */
  body_bytes: 1_048_576,
} as const

const text = z.string().max(SERVICE_LIMITS.text_characters)
const printable = 'printable ASCII on one line: no line break, no other control character'

/** Names as the settings take them for the header of a key, each once, in whatever letters. */
const HeadersSchema = z.record(z.string(), text.regex(/^[\x20-\x7e]*$/, printable)).superRefine((headers, context) => {
  const names = Object.keys(headers)
  if (names.length > SERVICE_LIMITS.headers) {
    context.addIssue({ code: 'custom', message: `at most ${SERVICE_LIMITS.headers} of them` })
  }
  for (const [at, name] of names.entries()) {
    const isSecond = names.slice(0, at).some((other) => other.toLowerCase() === name.toLowerCase())
    const message = isSecond ? 'it is named twice' : headerNameProblem(name, [])
    if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message })
  }
})

/** `config` of the handler `http`: a request to a service the operator named (docs/dag.md, "http"). */
export const ServiceRequestSchema = z.strictObject({
  /** A name under `services` of the settings. */
  service: z.string().min(1).max(64),
  method: z.enum(SERVICE_METHODS).default('GET'),
  /** Below the service's URL; a template, whose values are percent-encoded. */
  path: text
    .min(1)
    .refine((path) => pathProblem(path) === undefined, { error: ({ input }) => pathProblem(String(input)) }),
  query: z
    .record(z.string(), z.union([text, z.number(), z.boolean()], 'it must be a text, a number or true or false'))
    .refine((all) => Object.keys(all).length <= SERVICE_LIMITS.query, `at most ${SERVICE_LIMITS.query} of them`)
    .optional(),
  headers: HeadersSchema.optional(),
  /** JSON whose texts are templates; a text that is one placeholder becomes the value itself. */
  body: z.custom<Json>((value) => value !== undefined).optional(),
  /** JSONata over {inputs} instead: the whole body. */
  body_expression: z.string().min(1).max(4_000).optional(),
  /** Statuses besides 2xx that are answers, and no failures. */
  accept: z.array(z.int().min(200).max(599)).min(1).max(SERVICE_LIMITS.accept).optional(),
})
export type ServiceRequestConfig = z.infer<typeof ServiceRequestSchema>

/** Keys of a config that do not go together, and why. */
export function requestProblem({
  method,
  body,
  body_expression,
}: {
  readonly method?: unknown
  readonly body?: unknown
  readonly body_expression?: unknown
}): readonly [key: 'body' | 'body_expression', why: string] | undefined {
  const key = body === undefined ? 'body_expression' : 'body'
  if (body === undefined && body_expression === undefined) return undefined
  if (method === 'GET') return [key, 'does not go with a GET. Say method: POST, or use "query"']
  return body === undefined || body_expression === undefined
    ? undefined
    : [key, 'does not go with "body_expression". Keep one']
}

/** Why a template is no path of a request; undefined = it is one, whatever its values are. */
export function pathProblem(template: string): string | undefined {
  // What stands for a value is a word of one segment: so are values.
  const path = replaceReferences(template, () => 'x')
  if (!path.startsWith('/')) return 'it must begin with "/": it stands below the URL of the service'
  if (/[?#]/.test(path)) return 'it must have no "?" and no "#": parameters are written under "query"'
  if (path.includes('//')) return 'it has an empty part ("//")'
  if (path.includes('{')) return 'it reads inputs as {{inputs.NAME}}; other braces must be percent-encoded'
  if (!PATH.test(path)) return 'it has a character that a path has only percent-encoded (%20 for a blank)'
  return hasDotSegment(path) ? 'it has a part "." or "..", which would lead out of the URL of the service' : undefined
}

/** Segments of RFC 3986. */
const PATH = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/

/** However often a server may decode it, and whatever it takes for a slash. */
function hasDotSegment(path: string): boolean {
  let decoded = path
  for (let times = 0; times < 10; times += 1) {
    if (decoded.split(/[/\\]/).some((part) => part === '.' || part === '..')) return true
    const next = decoded.replace(/%(2[eEfF]|5[cC]|25)/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    if (next === decoded) return false
    decoded = next
  }
  return true
}

/** A request with its values in place. */
export interface WrittenRequest {
  readonly url: string
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Json
}

type Values = Readonly<Record<string, Json>>

/**
 * The request a config makes with these values. It goes below the URL of the service whatever the values are: those in a
 * path and in a query are percent-encoded, and what would still lead elsewhere, or break out of a header, is refused.
 * `body`: what `body_expression` gave. Faults InvalidInput missing_input, bad_service_request, without the block's name.
 */
export function writeServiceRequest(
  config: ServiceRequestConfig,
  service: ServiceSettings,
  values: Values,
  body?: Json,
): WrittenRequest {
  const url = writeUrl(config, service, values)
  const headers = Object.entries(config.headers ?? {}).map(([name, text]) => [
    name.toLowerCase(),
    writeHeader(name, text, values),
  ])
  const sent = body ?? (config.body === undefined ? undefined : writeBody(config.body, values, 'body'))
  if (sent !== undefined) requireRoom(sent)
  return { url, headers: Object.fromEntries(headers), ...(sent === undefined ? {} : { body: sent }) }
}

function refusal(what: string, code = 'bad_service_request'): Fault {
  return new Fault('InvalidInput', code, `${what}.`)
}

function writeUrl({ path, query = {} }: ServiceRequestConfig, service: ServiceSettings, values: Values): string {
  const written = render('its path', path, values, encodeForPath)
  const parameters = Object.entries(query).map(([name, value]) => {
    const text = typeof value === 'string' ? render(`query.${name}`, value, values) : String(value)
    return `${encode(name)}=${encode(text)}`
  })
  const url = `${serviceBase(service)}${written}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`
  if (pathProblem(written) !== undefined || !isBelowService(service, url)) {
    throw refusal(
      'with its values in place its path has a part "." or "..", which would lead out of the URL of the service',
    )
  }
  if (url.length > SERVICE_LIMITS.url_characters) {
    throw refusal(
      `its URL has ${url.length} characters with its values in place; ${SERVICE_LIMITS.url_characters} are allowed`,
    )
  }
  return url
}

/** An empty value would make another path of it, often that of the whole list. */
function encodeForPath(value: string): string {
  if (value === '') throw refusal('an input its path reads is empty: it would ask for something else')
  return encode(value)
}

/** Half a character has no bytes. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function writeHeader(name: string, template: string, values: Values): string {
  const written = render(`header ${quoted(name)}`, template, values)
  if (written.length > SERVICE_LIMITS.header_characters) {
    throw refusal(
      `header ${quoted(name)} has ${written.length} characters with its values in place; ${SERVICE_LIMITS.header_characters} are allowed`,
    )
  }
  if (!/^[\x20-\x7e]*$/.test(written)) {
    throw refusal(
      `header ${quoted(name)} has, with its values in place, what a header cannot carry; allowed is ${printable}`,
    )
  }
  return written
}

/** JSON with the values of its templates in place. Names of members are as they are written. */
export function writeBody(part: Json, values: Values, place: string): Json {
  if (typeof part === 'string') return placeholderValue(part, values) ?? render(place, part, values)
  if (Array.isArray(part)) return part.map((item, at) => writeBody(item, values, `${place}[${at}]`))
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([name, item]) => [name, writeBody(item, values, `${place}.${name}`)]),
  )
}

function requireRoom(body: Json): void {
  const bytes = new TextEncoder().encode(JSON.stringify(body)).byteLength
  if (bytes > SERVICE_LIMITS.body_bytes) {
    throw refusal(`its body has ${bytes} bytes as JSON; ${SERVICE_LIMITS.body_bytes} are allowed`)
  }
}

function render(place: string, template: string, values: Values, encoded?: (value: string) => string): string {
  const rendered = renderTemplate(template, values, encoded)
  if (rendered.ok) return rendered.text
  throw refusal(
    `${place} reads ${rendered.missing.map((path) => `inputs.${path}`).join(', ')}, which has no value. Give it as a run input, a default, or wire it with "from"`,
    'missing_input',
  )
}

/** Every text of a config that is a template, with its path in it. */
export function serviceRequestTexts(
  config: Readonly<Record<string, Json>>,
): readonly (readonly [string, readonly (string | number)[]])[] {
  const { path, query, headers, body } = config
  return Object.entries({ path, query, headers, body }).flatMap(([key, part]) => textsIn(part, [key]))
}

/** Every text in a value, with its path. */
export function textsIn(
  part: Json | undefined,
  path: readonly (string | number)[],
): readonly (readonly [string, readonly (string | number)[]])[] {
  if (typeof part === 'string') return [[part, path]]
  if (Array.isArray(part)) return part.flatMap((item, at) => textsIn(item, [...path, at]))
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([name, item]) => textsIn(item, [...path, name]))
}
