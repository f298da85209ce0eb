import * as z from 'zod'

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: readonly PayloadError[] }

/** One kind of payload: its shape, and the rules on values of that shape. */
export interface PayloadKind<T> {
  readonly schema: z.ZodType<T>
  /** The rules that are broken; empty = the payload is accepted. */
  validate(value: T): readonly PayloadError[]
}

/**
 * Reads JSON as a payload: shape and closed words only, values are for `validate`. Keys the schema does not have are
 * ignored and null is the same as absent, at every level the schema describes; what is free (hints, args) stays as it
 * is. One bad item refuses the whole payload, naming its index.
 */
export function decodePayload<T>(schema: z.ZodType<T>, input: unknown): Decoded<T> {
  const parsed = schema.safeParse(knownMembers(schema, input))
  if (parsed.success) return { ok: true, value: parsed.data }
  return { ok: false, errors: parsed.error.issues.slice(0, MOST_ERRORS).map((issue) => decodeError(issue, input)) }
}

/** Decodes, then validates. */
export function readPayload<T>({ schema, validate }: PayloadKind<T>, input: unknown): Decoded<T> {
  const decoded = decodePayload(schema, input)
  if (!decoded.ok) return decoded
  const errors = validate(decoded.value)
  return errors.length === 0 ? decoded : { ok: false, errors: errors.slice(0, MOST_ERRORS) }
}

/** Errors of one payload that are told. */
const MOST_ERRORS = 20

/** The value with only the members the schema has and that are not null. */
function knownMembers(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  if (inner instanceof z.ZodArray && Array.isArray(value)) return value.map((item) => knownMembers(inner.element, item))
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return value
  const members = Object.entries(inner.shape).flatMap(([key, member]) => {
    const held = Object.hasOwn(value, key) ? value[key] : undefined
    return held === undefined || held === null ? [] : [[key, knownMembers(member, held)] as const]
  })
  return Object.fromEntries(members)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function decodeError(issue: z.core.$ZodIssue, input: unknown): PayloadError {
  const path = joinPath(issue.path)
  const seen = valueAt(input, issue.path)
  if (seen === undefined || (seen === null && typeof issue.path.at(-1) === 'string')) {
    return payloadError('field_required', path, 'is required')
  }
  if (issue.code === 'invalid_value') {
    const allowed = issue.values.map((value) => JSON.stringify(value)).join(', ')
    return payloadError('field_value', path, `is ${JSON.stringify(seen).slice(0, 60)}, allowed are ${allowed}`)
  }
  const wanted =
    issue.code === 'invalid_type' ? (KIND_WORDS[issue.expected] ?? issue.expected) : 'a whole number that is exact'
  return payloadError('field_type', path, `must be ${wanted}, is ${kindWord(seen)}`)
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    return (value as Readonly<Record<PropertyKey, unknown>>)[part]
  }, input)
}

function kindWord(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : `${value}`
  return KIND_WORDS[typeof value] ?? typeof value
}

/** Text of nothing but white space (U+0085 is white space to everybody but JavaScript). */
export function blankErrors(path: string, text: string): readonly PayloadError[] {
  return /^[\s\u0085]*$/.test(text) ? [payloadError('field_blank', path, 'is blank: it needs a text')] : []
}

/** Numbers from `least` to `most`; absent is allowed. */
export function rangeErrors(
  path: string,
  number: number | undefined,
  { least = 0, most = Number.POSITIVE_INFINITY }: { readonly least?: number; readonly most?: number } = {},
): readonly PayloadError[] {
  if (number === undefined || (number >= least && number <= most)) return []
  const wanted = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `from ${least} to ${most}`
  return [payloadError('field_range', path, `is ${number}, wanted is ${wanted}`)]
}

/** A word that is none of a closed list. */
export function unlistedErrors(path: string, word: string, allowed: readonly string[]): readonly PayloadError[] {
  if (allowed.includes(word)) return []
  const seen = JSON.stringify(word.slice(0, 60))
  return [payloadError('field_value', path, `is ${seen}, allowed are ${allowed.map((one) => `"${one}"`).join(', ')}`)]
}

/** A hint needs a key and a value: who has none leaves the key out. */
export function hintErrors(path: string, hints: Readonly<Record<string, string>> | undefined): readonly PayloadError[] {
  return Object.entries(hints ?? {}).flatMap(([key, value]) => {
    if (blankErrors('', key).length > 0) return [payloadError('field_blank', path, 'has a blank key')]
    return blankErrors(joinPath([path, key]), value)
  })
}

/** The errors of a list's items, each with its index: `evidence[3].tier`. */
export function itemErrors<T>(
  path: string,
  { validate }: PayloadKind<T>,
  items: readonly T[] | undefined,
): readonly PayloadError[] {
  return (items ?? []).flatMap((item, index) => {
    const at = `${path}[${index}]`
    return validate(item).map((error) => ({
      ...error,
      path: `${at}.${error.path}`,
      message: error.message.replace(JSON.stringify(error.path), () => JSON.stringify(`${at}.${error.path}`)),
    }))
  })
}

/** What a payload is refused for; the codes are explained in docs/errors.md. */
type PayloadErrorCode = 'field_required' | 'field_type' | 'field_blank' | 'field_value' | 'field_range' | 'wrong_action'

/** `path` names the place as it is written in JavaScript: `candidates[1].tier`; `""` is the whole payload. */
export interface PayloadError {
  readonly code: string
  readonly path: string
  readonly message: string
}

/** `told` goes on after the place: `"topic" must be text`. */
export function payloadError(code: PayloadErrorCode, path: string, told: string): PayloadError {
  return { code, path, message: `${path === '' ? 'The payload' : JSON.stringify(path)} ${told}.` }
}

/** The place of a member: keys that are no plain names stand in quotes. */
function joinPath(parts: readonly PropertyKey[]): string {
  return parts.reduce<string>((path, part) => {
    if (typeof part === 'number') return `${path}[${part}]`
    const name = String(part)
    if (!/^[A-Za-z_][A-Za-z0-9_-]{0,99}$/.test(name)) return `${path}[${JSON.stringify(name.slice(0, 100))}]`
    return path === '' ? name : `${path}.${name}`
  }, '')
}

/** A payload as JSON: optional members that are zero, false, empty or absent are left out, at every level of the schema. */
export function omitEmptyMembers<T>(schema: z.ZodType<T>, value: T): unknown {
  return encodeMember(schema, value)
}

function encodeMember(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  if (inner instanceof z.ZodArray && Array.isArray(value)) return value.map((item) => encodeMember(inner.element, item))
  if (!(inner instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value
  const held = value as Readonly<Record<string, unknown>>
  const members = Object.entries(inner.shape).flatMap(([key, member]) => {
    const encoded = encodeMember(member, held[key])
    return member instanceof z.ZodOptional && isEmpty(encoded) ? [] : [[key, encoded] as const]
  })
  return Object.fromEntries(members)
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return !value
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}
