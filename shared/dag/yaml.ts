import { CORE_SCHEMA, constructFromEvents, type Event, parseEvents, YAMLException } from 'js-yaml'
import type { Json } from '../canonical.ts'
import { LIMITS } from './limits.ts'
import type { Problem } from './report.ts'
import type { Path, Source } from './source.ts'
import { indexEvents } from './yaml-index.ts'

export type ReadDocument =
  | { readonly ok: true; readonly source: Source }
  /** With as much of the source as the places of the problems need. */
  | { readonly ok: false; readonly source: Partial<Source>; readonly problems: readonly Problem[] }

/**
 * Reads one YAML document, hostile or not: size before anything else, nesting bounded, no aliases, no unknown tags,
 * no duplicate, complex or prototype keys, one document, JSON values only.
 */
export function readYaml(given: string): ReadDocument {
  const bytes = Buffer.byteLength(given)
  if (bytes > LIMITS.document_bytes) {
    const text = `the document has ${bytes} bytes; the limit is ${LIMITS.document_bytes}`
    return { ok: false, source: {}, problems: [{ code: 'limit_exceeded', path: [], say: () => ({ text }) }] }
  }
  // The byte order mark is no column.
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given
  try {
    return construct(text, parseEvents(text, { maxDepth: LIMITS.depth }))
  } catch (cause) {
    if (!(cause instanceof YAMLException)) throw cause
    return { ok: false, source: { text }, problems: [syntaxProblem(cause)] }
  }
}

function construct(text: string, events: Event[]): ReadDocument {
  const { spot, problems: refused } = indexEvents(text, events)
  if (refused.length > 0) return { ok: false, source: { text }, problems: refused }
  if (spot === undefined) {
    const say = () => ({ text: 'the document is empty', hint: 'Give it a list "blocks".' })
    return { ok: false, source: { text }, problems: [{ code: 'not_a_mapping', path: [], say }] }
  }
  const [parsed] = constructFromEvents(events, { source: text, schema: CORE_SCHEMA, maxAliases: 0 })
  const problems: Problem[] = []
  // With the core schema, the scan above and this one every value is JSON.
  const source = { value: nullForeign(parsed, [], problems) as Json, spot, text }
  return problems.length > 0 ? { ok: false, source, problems } : { ok: true, source }
}

/** Values YAML has and JSON has not: .nan, .inf and half characters. null takes their place, and the rest is judged on. */
function nullForeign(value: unknown, path: Path, problems: Problem[]): unknown {
  const what = foreignScalar(value)
  if (what !== undefined) problems.push(foreign(path, what))
  if (what !== undefined) return null
  if (Array.isArray(value)) return value.map((item, index) => nullForeign(item, [...path, index], problems))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, nullForeign(item, [...path, key], problems)]),
  )
}

function foreignScalar(value: unknown): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return `${value}, which is no JSON value`
  if (typeof value === 'string' && !value.isWellFormed()) return 'a text with half of a character (a lone surrogate)'
  return undefined
}

function foreign(path: Path, what: string): Problem {
  return { code: 'not_json', path, say: ({ place }) => ({ text: `${place} is ${what}` }) }
}

function syntaxProblem({ reason, mark }: YAMLException): Problem {
  const [, code, text] = NAMED.find(([pattern]) => pattern.test(reason)) ?? [
    /^/,
    'yaml_syntax',
    `the YAML cannot be read: ${reason}`,
  ]
  return { code, path: [], at: mark?.position ?? 0, say: () => ({ text }) }
}

/** Reasons of js-yaml that are checks of ours. */
const NAMED: readonly (readonly [reason: RegExp, code: string, text: string])[] = [
  [/^nesting exceeded/, 'limit_exceeded', `the document nests deeper than ${LIMITS.depth} levels`],
  [/^duplicated mapping key/, 'duplicate_key', 'a key is given twice in one mapping'],
  [/^unknown \w+ tag/, 'unknown_tag', 'only plain YAML values are allowed, no custom tags'],
]
