import * as z from 'zod'
import { suggest } from '../dag/suggest.ts'
import type { Issue } from '../errors.ts'

/**
 * What a schema found wrong, as at most 20 issues for people: dotted path (`""` is the whole value), message, and for
 * an unknown key the keys that are allowed there. `value` is what was parsed: where a member has several forms, it
 * says which one was meant.
 */
export function issuesOf(error: z.core.$ZodError, schema: z.ZodType, value?: unknown): readonly Issue[] {
  return error.issues
    .slice(0, LISTED)
    .flatMap((issue) => spread(issue, schema, value))
    .slice(0, LISTED)
}

const LISTED = 20

function spread(issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown): readonly Issue[] {
  const at = issue.path.map(String)
  // A key of free values: what is wrong with it stands one level deeper.
  if (issue.code === 'invalid_key') return [{ path: at.join('.'), message: keyWords(issue, at.at(-1) ?? '') }]
  if (issue.code !== 'unrecognized_keys') return [{ path: at.join('.'), message: issue.message }]
  const allowed = keysAt(schema, at, value)
  return issue.keys.slice(0, LISTED).map((key) => ({
    path: [...at, key].join('.'),
    message: `Unknown key "${key.slice(0, 100)}"`,
    ...(allowed.length === 0 ? {} : { hint: hintFor(key, allowed) }),
  }))
}

function keyWords({ issues }: z.core.$ZodIssueInvalidKey, key: string): string {
  return `The key "${key.slice(0, 100)}" is not allowed: ${issues[0]?.message ?? 'it does not fit the schema'}`
}

function hintFor(key: string, allowed: readonly string[]): string {
  const meant = suggest(key, allowed)
  return `${meant === undefined ? '' : `did you mean "${meant}"? `}allowed: ${allowed.join(', ')}`
}

function keysAt(schema: z.ZodType, path: readonly string[], value: unknown): readonly string[] {
  const [first, ...rest] = path
  const inner = formOf(unwrap(schema), value)
  if (inner instanceof z.ZodObject && first === undefined) return Object.keys(inner.shape)
  const member: unknown = first === undefined ? undefined : memberOf(inner, first)
  return member instanceof z.ZodType ? keysAt(member, rest, valueAt(value, first)) : []
}

function memberOf(inner: unknown, key: string): unknown {
  if (inner instanceof z.ZodRecord) return inner.valueType
  if (inner instanceof z.ZodArray) return inner.element
  return inner instanceof z.ZodObject ? inner.shape[key] : undefined
}

/** The form of a discriminated union whose discriminator the value has. */
function formOf(inner: unknown, value: unknown): unknown {
  if (!(inner instanceof z.ZodDiscriminatedUnion)) return inner
  const kind = inner.def.discriminator
  const fits = (option: z.core.$ZodType) =>
    option instanceof z.ZodObject && option.shape[kind]?.safeParse(valueAt(value, kind)).success === true
  return inner.options.find(fits)
}

function valueAt(value: unknown, key: string | undefined): unknown {
  if (typeof value !== 'object' || value === null || key === undefined) return undefined
  return Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined
}

function unwrap(schema: z.ZodType): unknown {
  let inner: unknown = schema
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) {
    inner = inner.unwrap()
  }
  return inner
}
