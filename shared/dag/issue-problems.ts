import * as z from 'zod'
import type { Json } from '../canonical.ts'
import type { Problem, Subject } from './report.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, shown } from './wording.ts'

type Issue = z.core.$ZodIssue
type Said = ReturnType<Problem['say']>

/**
 * A schema's issue as problems at their places. `base` is the path of the value the schema was given; the value and
 * the schema themselves let messages tell what was seen and what is known.
 */
export function issueProblems(issue: Issue, base: Path, value: Json | undefined, schema: unknown): readonly Problem[] {
  const inner = issue.path.filter((part): part is string | number => typeof part !== 'symbol')
  const path = [...base, ...inner]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownKey([...path, key], () => keysAt(schema, inner)))
  }
  const seen = valueAt(value, inner)
  if (seen === undefined) return [missing(path)]
  const code =
    issue.code === 'too_big' ? 'limit_exceeded' : issue.code === 'invalid_type' ? 'wrong_type' : 'invalid_value'
  return [{ code, path, say: (subject) => sayIssue(issue, seen, subject) }]
}

/** A value its schema accepts and something else does not. */
export function notAllowed(path: Path, seen: Json, why: string): Problem {
  return { code: 'invalid_value', path, say: ({ place }) => sayNotAllowed(place, seen, why) }
}

/** A key nobody knows, with the keys that are known there. */
export function unknownKey(path: Path, known: () => readonly string[]): Problem {
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

function sayIssue(issue: Issue, seen: Json, { place }: Subject): Said {
  switch (issue.code) {
    case 'invalid_type':
      return { text: `${place} must be ${KINDS[issue.expected] ?? issue.expected}, got ${shown(seen)}` }
    case 'too_big':
      return { text: `${place} is ${measured(issue.origin, seen)}; the limit is ${String(issue.maximum)}` }
    case 'too_small':
      return {
        text: `${place} is ${measured(issue.origin, seen)}; it must be ${bound(issue)} ${String(issue.minimum)}`,
      }
    case 'invalid_value': {
      const allowed = issue.values.map(String)
      const near = typeof seen === 'string' ? suggest(seen, allowed) : undefined
      const text = `${place} is ${shown(seen)}; allowed are ${listed(allowed)}`
      return { text, hint: didYouMean(near) }
    }
    default:
      return sayNotAllowed(place, seen, issue.message)
  }
}

function sayNotAllowed(place: string, seen: Json, why: string): Said {
  return { text: `${place}${typeof seen === 'object' ? '' : ` (${shown(seen)})`} is not allowed: ${why}` }
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
