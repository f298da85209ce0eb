import * as z from 'zod'
import { joinPath, type PayloadError, payloadError } from './payload-error.ts'

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
  const parsed = schema.safeParse(known(schema, input))
  if (parsed.success) return { ok: true, value: parsed.data }
  return { ok: false, errors: parsed.error.issues.slice(0, LISTED).map((issue) => errorOf(issue, input)) }
}

/** Decodes, then validates. */
export function readPayload<T>({ schema, validate }: PayloadKind<T>, input: unknown): Decoded<T> {
  const decoded = decodePayload(schema, input)
  if (!decoded.ok) return decoded
  const errors = validate(decoded.value)
  return errors.length === 0 ? decoded : { ok: false, errors: errors.slice(0, LISTED) }
}

/** Errors of one payload that are told. */
const LISTED = 20

/** The value with only the members the schema has and that are not null. */
function known(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  if (inner instanceof z.ZodArray && Array.isArray(value)) return value.map((item) => known(inner.element, item))
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return value
  const members = Object.entries(inner.shape).flatMap(([key, member]) => {
    const held = Object.hasOwn(value, key) ? value[key] : undefined
    return held === undefined || held === null ? [] : [[key, known(member, held)] as const]
  })
  return Object.fromEntries(members)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function errorOf(issue: z.core.$ZodIssue, input: unknown): PayloadError {
  const path = joinPath(issue.path)
  const seen = seenAt(input, issue.path)
  if (seen === undefined || (seen === null && typeof issue.path.at(-1) === 'string')) {
    return payloadError('field_required', path, 'is required')
  }
  if (issue.code === 'invalid_value') {
    const allowed = issue.values.map((value) => JSON.stringify(value)).join(', ')
    return payloadError('field_value', path, `is ${JSON.stringify(seen).slice(0, 60)}, allowed are ${allowed}`)
  }
  const wanted =
    issue.code === 'invalid_type' ? (WORDS[issue.expected] ?? issue.expected) : 'a whole number that is exact'
  return payloadError('field_type', path, `must be ${wanted}, is ${wordOf(seen)}`)
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

function seenAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    return (value as Readonly<Record<PropertyKey, unknown>>)[part]
  }, input)
}

function wordOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : `${value}`
  return WORDS[typeof value] ?? typeof value
}
