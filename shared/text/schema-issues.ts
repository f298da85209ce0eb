import * as z from 'zod'
import type { Issue } from '../errors.ts'
import type { Problem, Subject } from './document-problems.ts'
import type { Json } from './json.ts'
import type { Path } from './source-position.ts'
import { describeValue, didYouMean, listed, suggest } from './wording.ts'

type ZodIssue = z.core.$ZodIssue
type Said = ReturnType<Problem['say']>

/**
 * A schema's issue as problems at their places. `base` is the path of the value the schema was given; the value and
 * the schema themselves let messages tell what was seen and what is known.
 */
export function issueProblems(
  issue: ZodIssue,
  base: Path,
  value: Json | undefined,
  schema: unknown,
): readonly Problem[] {
  const inner = issue.path.filter((part): part is string | number => typeof part !== 'symbol')
  const path = [...base, ...inner]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownKeyProblem([...path, key], () => keysAt(schema, inner)))
  }
  const seen = valueAt(value, inner)
  if (seen === undefined) return [missing(path)]
  const code =
    issue.code === 'too_big' ? 'limit_exceeded' : issue.code === 'invalid_type' ? 'wrong_type' : 'invalid_value'
  return [{ code, path, say: (subject) => sayIssue(issue, seen, subject) }]
}

/** A value its schema accepts and something else does not. */
export function notAllowedProblem(path: Path, seen: Json, why: string): Problem {
  return { code: 'invalid_value', path, say: ({ place }) => sayNotAllowed(place, seen, why) }
}

/** A key nobody knows, with the keys that are known there. */
export function unknownKeyProblem(path: Path, known: () => readonly string[]): Problem {
  const say = ({ place }: Subject): Said => {
    const keys = known()
    const near = suggest(String(path.at(-1)), keys)
    const text = `${place} is an unknown key; allowed are ${listed(keys)}`
    return { text, hint: didYouMean(near) }
  }
  return { code: 'unknown_key', path, on: 'key', say }
}

function missing(path: Path): Problem {
  const say = ({ place }: Subject): Said => ({ text: `${place} is missing`, hint: `Add "${String(path.at(-1))}".` })
  return { code: 'missing_key', path, say }
}

function sayIssue(issue: ZodIssue, seen: Json, { place }: Subject): Said {
  switch (issue.code) {
    case 'invalid_type':
      return { text: `${place} must be ${KINDS[issue.expected] ?? issue.expected}, got ${describeValue(seen)}` }
    case 'too_big':
      return { text: `${place} is ${measured(issue.origin, seen)}; the limit is ${String(issue.maximum)}` }
    case 'too_small':
      return {
        text: `${place} is ${measured(issue.origin, seen)}; it must be ${bound(issue)} ${String(issue.minimum)}`,
      }
    case 'invalid_value': {
      const allowed = issue.values.map(String)
      const near = typeof seen === 'string' ? suggest(seen, allowed) : undefined
      const text = `${place} is ${describeValue(seen)}; allowed are ${listed(allowed)}`
      return { text, hint: didYouMean(near) }
    }
    default:
      return sayNotAllowed(place, seen, issue.message)
  }
}

function sayNotAllowed(place: string, seen: Json, why: string): Said {
  return { text: `${place}${typeof seen === 'object' ? '' : ` (${describeValue(seen)})`} is not allowed: ${why}` }
}

function bound(issue: z.core.$ZodIssueTooSmall): string {
  return issue.inclusive === false ? 'more than' : 'at least'
}

function measured(origin: string, seen: Json): string {
  if (typeof seen === 'string') return seen === '' ? 'empty' : `a text of ${seen.length} characters`
  if (Array.isArray(seen)) return `a list of ${seen.length}`
  return typeof seen === 'number' ? String(seen) : `a ${origin}`
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  record: 'a mapping',
  object: 'a mapping',
}

function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let seen: unknown = value
  for (const key of path) {
    if (typeof seen !== 'object' || seen === null || !Object.hasOwn(seen, key)) return undefined
    // Checked above: an object with this own key.
    seen = (seen as Readonly<Record<string, unknown>>)[String(key)]
  }
  return seen as Json | undefined
}

function keysAt(schema: unknown, path: Path): readonly string[] {
  let inner = schema
  for (const part of path) {
    const open = unwrap(inner)
    if (open instanceof z.ZodObject) inner = open.shape[String(part)]
    else inner = open instanceof z.ZodArray ? open.element : undefined
  }
  const open = unwrap(inner)
  return open instanceof z.ZodObject ? Object.keys(open.shape) : []
}

function unwrap(schema: unknown): unknown {
  let inner = schema
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) {
    inner = inner.unwrap()
  }
  return inner instanceof z.ZodPipe ? unwrap(inner.in) : inner
}

/**
 * What a schema found wrong, as at most 20 issues for people: dotted path (`""` is the whole value), message, and for
 * an unknown key the keys that are allowed there. `value` is what was parsed: where a member has several forms, it
 * says which one was meant.
 */
export function schemaIssues(error: z.core.$ZodError, schema: z.ZodType, value?: unknown): readonly Issue[] {
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
  const allowed = allowedKeysAt(schema, at, value)
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

function allowedKeysAt(schema: z.ZodType, path: readonly string[], value: unknown): readonly string[] {
  const [first, ...rest] = path
  const inner = formOf(unwrapDefaults(schema), value)
  if (inner instanceof z.ZodObject && first === undefined) return Object.keys(inner.shape)
  const member: unknown = first === undefined ? undefined : memberOf(inner, first)
  return member instanceof z.ZodType ? allowedKeysAt(member, rest, memberValue(value, first)) : []
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
    option instanceof z.ZodObject && option.shape[kind]?.safeParse(memberValue(value, kind)).success === true
  return inner.options.find(fits)
}

function memberValue(value: unknown, key: string | undefined): unknown {
  if (typeof value !== 'object' || value === null || key === undefined) return undefined
  return Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined
}

function unwrapDefaults(schema: z.ZodType): unknown {
  let inner: unknown = schema
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) {
    inner = inner.unwrap()
  }
  return inner
}
