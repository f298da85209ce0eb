import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from 'js-yaml'
import { isReservedKey, LIMITS } from '../limits.ts'
import type { Problem } from './document-problems.ts'
import type { Json } from './json.ts'
import type { Path, Source, Spot } from './source-position.ts'
import { inexactNumber, inexactNumberWords } from './strict-json.ts'
import { quoted } from './wording.ts'

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

/**
 * Where everything stands in a YAML text, from the parser's events, and what we refuse in it: aliases, tags other than
 * the core ones, duplicate, complex and prototype keys, a second document. All of them, not only the first.
 */
function indexEvents(text: string, events: readonly Event[]): { spot?: Spot; problems: readonly Problem[] } {
  const walk: Walk = { text, cursor: 0, frames: [], problems: [], root: undefined, documents: 0 }
  for (const event of events) {
    step(walk, event)
    if (walk.documents > 1) break
  }
  return { ...(walk.root === undefined ? {} : { spot: walk.root }), problems: walk.problems }
}

interface Walk {
  readonly text: string
  /** End of the last token: what has no offset of its own is looked for from here. */
  cursor: number
  readonly frames: Frame[]
  readonly problems: Problem[]
  root: Spot | undefined
  documents: number
}

interface Frame {
  readonly path: Path
  readonly keys?: Map<string, { readonly at: number; readonly value: Spot }>
  readonly items?: Spot[]
  /** The key whose value comes next; its name is absent when it cannot be a key of JSON. */
  key: { readonly name: string | undefined; readonly at: number } | undefined
}

function step(walk: Walk, event: Event): void {
  switch (event.type) {
    case EVENT_ID.DOCUMENT:
      walk.documents += 1
      if (walk.documents > 1) refuseDocument(walk)
      return
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE: {
      checkTag(walk, event)
      const part = event.type === EVENT_ID.MAPPING ? { keys: new Map() } : { items: [] }
      const path = pathOf(walk)
      attach(walk, { at: event.start, ...part }, undefined)
      walk.frames.push({ path, ...part, key: undefined })
      walk.cursor = event.start
      return
    }
    case EVENT_ID.SCALAR:
      checkTag(walk, event)
      attachScalar(walk, event)
      return
    case EVENT_ID.ALIAS: {
      const say = () => ({
        text: `"*${walk.text.slice(event.anchorStart, event.anchorEnd).slice(0, 80)}" is an alias`,
        hint: 'Aliases are not allowed: write the value out.',
      })
      walk.problems.push({ code: 'alias', path: pathOf(walk), at: event.anchorStart - 1, say })
      attach(walk, { at: event.anchorStart - 1 }, undefined)
      walk.cursor = event.anchorEnd
      return
    }
    case EVENT_ID.POP:
      walk.frames.pop()
  }
}

function attachScalar(walk: Walk, event: ScalarEvent): void {
  const at = event.valueStart < 0 ? emptyAt(walk, event) : scalarAt(walk, event)
  checkNumber(walk, event, at)
  attach(walk, { at }, getScalarValue(walk.text, event))
  if (event.valueStart >= 0) walk.cursor = event.valueEnd + (isQuoted(event) ? 1 : 0)
  // Also past what an empty value has: else each of many would look through the same text again.
  else walk.cursor = Math.max(walk.cursor, event.tagEnd, event.anchorEnd)
}

/** A number that would be read as another one; in quotes, or with the tag of a text, it is none. */
function checkNumber(walk: Walk, event: ScalarEvent, at: number): void {
  const tag = event.tagStart < 0 ? '' : walk.text.slice(event.tagStart, event.tagEnd)
  const mayBe = tag === '' ? event.style === SCALAR_STYLE.PLAIN : tag === '!!int' || tag === '!!float'
  const text = mayBe && event.valueStart >= 0 ? getScalarValue(walk.text, event) : ''
  const changed = NUMBER.test(text) ? inexactNumber(text) : undefined
  if (changed === undefined) return
  const say = () => ({ text: inexactNumberWords(changed) })
  walk.problems.push({ code: 'number_inexact', path: pathOf(walk), at, say })
}

/** As the core schema has integers (decimal, octal, hexadecimal) and floats. */
const NUMBER = /^[-+]?(?:0x[\da-f]+|0o[0-7]+|0b[01]+|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)$/i

/** A node is the next item, the next key, or the value of the key before it. */
function attach(walk: Walk, spot: Spot, name: string | undefined): void {
  const frame = walk.frames.at(-1)
  if (frame === undefined) walk.root = spot
  else if (frame.items !== undefined) frame.items.push(spot)
  else if (frame.key === undefined) {
    checkKey(walk, frame, spot.at, name)
    frame.key = { name, at: spot.at }
  } else {
    const { name: key, at } = frame.key
    if (key !== undefined && frame.keys?.has(key) === false) frame.keys.set(key, { at, value: spot })
    frame.key = undefined
  }
}

function checkKey(walk: Walk, frame: Frame, at: number, name: string | undefined): void {
  const refuse = (code: string, text: string, hint: string) =>
    walk.problems.push({
      code,
      path: [...frame.path, ...(name === undefined ? [] : [name])],
      at,
      say: () => ({ text, hint }),
    })
  if (name === undefined) refuse('complex_key', 'a key is not a plain text', 'Use a word as the key.')
  else if (isReservedKey(name) || !name.isWellFormed())
    refuse('forbidden_key', `the key ${quoted(name)} is not allowed`, 'Rename it.')
  else if (frame.keys?.has(name)) {
    refuse('duplicate_key', `the key ${quoted(name)} is given twice in one mapping`, 'Remove one of the two.')
  }
}

function checkTag(walk: Walk, event: { readonly tagStart: number; readonly tagEnd: number }): void {
  if (event.tagStart < 0) return
  const tag = walk.text.slice(event.tagStart, event.tagEnd)
  if (CORE_TAGS.has(tag)) return
  const text = `the tag ${quoted(tag)} is not known`
  const hint = 'Only plain YAML values are allowed: remove the tag.'
  walk.problems.push({ code: 'unknown_tag', path: pathOf(walk), at: event.tagStart, say: () => ({ text, hint }) })
}

const CORE_TAGS = new Set(['!', '!!str', '!!int', '!!float', '!!bool', '!!null', '!!seq', '!!map'])

function refuseDocument(walk: Walk): void {
  const rest = walk.text.slice(walk.cursor)
  const marker = rest.search(/^---/m)
  const at = walk.cursor + Math.max(0, marker >= 0 ? marker : rest.search(/^\.\.\./m))
  const text = 'the text holds more than one YAML document'
  const hint = 'Give one DAG at a time.'
  walk.problems.push({ code: 'several_documents', path: [], at, say: () => ({ text, hint }) })
}

/** The path of the node that comes next. */
function pathOf(walk: Walk): Path {
  const frame = walk.frames.at(-1)
  if (frame === undefined) return []
  if (frame.items !== undefined) return [...frame.path, frame.items.length]
  return frame.key?.name === undefined ? frame.path : [...frame.path, frame.key.name]
}

function isQuoted({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED
}

function scalarAt(walk: Walk, event: ScalarEvent): number {
  if (isQuoted(event)) return event.valueStart - 1
  if (event.style === SCALAR_STYLE.PLAIN) return event.valueStart
  // A block scalar's event begins at its first line of content; people look at its `|` or `>`.
  return skip(walk.text, /(?:[\s:?-]|#[^\r\n]*)*/y, Math.max(walk.cursor, event.tagEnd, event.anchorEnd))
}

/** An absent value stands at its key, an absent item at its tag or anchor, else at its dash. */
function emptyAt(walk: Walk, event: ScalarEvent): number {
  const frame = walk.frames.at(-1)
  if (frame?.key !== undefined) return frame.key.at
  if (event.tagStart >= 0) return event.tagStart
  if (event.anchorStart >= 0) return event.anchorStart
  if (frame?.items === undefined) return walk.cursor
  const dash = skip(walk.text, /(?:[\s\]},:?]|#[^\r\n]*)*/y, walk.cursor)
  if (walk.text[dash] !== '-') return walk.cursor
  walk.cursor = dash + 1
  return dash
}

function skip(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  pattern.test(text)
  return pattern.lastIndex
}

/**
 * Reads a document given as a value: a copy of plain JSON, under the limits of the text form. Places are running
 * numbers in document order, so that errors are listed in that order. Getters and proxies that throw are refused.
 */
export function readObject(given: object): ReadDocument {
  const copy: Copy = { problems: [], bytes: 0, places: 0 }
  try {
    const [value, spot] = copyValue(copy, given, [])
    const bytes = Math.max(copy.bytes, Buffer.byteLength(JSON.stringify(value)))
    if (bytes > LIMITS.document_bytes) return tooLarge(bytes)
    const source = { value, spot }
    return copy.problems.length > 0 ? { ok: false, source, problems: copy.problems } : { ok: true, source }
  } catch (cause) {
    if (cause instanceof TooLarge) return tooLarge(cause.bytes)
    const say = () => ({ text: 'the document is an object that cannot be read', hint: 'Give plain JSON or YAML text.' })
    return { ok: false, source: {}, problems: [{ code: 'not_json', path: [], say }] }
  }
}

interface Copy {
  readonly problems: Problem[]
  /** At least this many bytes as JSON: stops what shares or repeats parts without end. */
  bytes: number
  places: number
}

class TooLarge extends Error {
  override readonly name = 'TooLarge'
  readonly bytes: number
  constructor(bytes: number) {
    super('document too large')
    this.bytes = bytes
  }
}

function tooLarge(bytes: number): ReadDocument {
  const text = `the document has at least ${bytes} bytes as JSON; the limit is ${LIMITS.document_bytes}`
  return { ok: false, source: {}, problems: [{ code: 'limit_exceeded', path: [], say: () => ({ text }) }] }
}

function copyValue(copy: Copy, value: unknown, path: Path): [Json, Spot] {
  const at = copy.places++
  charge(copy, typeof value === 'string' ? value.length : 1)
  if (path.length > LIMITS.depth) {
    const text = `the document nests deeper than ${LIMITS.depth} levels`
    copy.problems.push({ code: 'limit_exceeded', path, at, say: () => ({ text }) })
    return [null, { at }]
  }
  if (Array.isArray(value)) return copyList(copy, value, path, at)
  if (isPlain(value)) return copyMapping(copy, value, path, at)
  if (isScalar(value)) return [value, { at }]
  const what = typeof value === 'object' ? 'an object that is not plain' : `a ${typeof value}`
  const say: Problem['say'] = ({ place }) => ({ text: `${place} is ${what}, which is no JSON value` })
  copy.problems.push({ code: 'not_json', path, at, say })
  return [null, { at }]
}

function copyList(copy: Copy, list: readonly unknown[], path: Path, at: number): [Json, Spot] {
  const values: Json[] = []
  const items: Spot[] = []
  for (let index = 0; index < list.length; index += 1) {
    const [value, spot] = copyValue(copy, list[index], [...path, index])
    values.push(value)
    items.push(spot)
  }
  return [values, { at, items }]
}

function copyMapping(copy: Copy, mapping: object, path: Path, at: number): [Json, Spot] {
  const values: Record<string, Json> = {}
  const keys = new Map<string, { at: number; value: Spot }>()
  for (const [key, member] of Object.entries(mapping)) {
    if (member === undefined) continue
    const here = copy.places++
    charge(copy, key.length)
    if (isReservedKey(key) || !key.isWellFormed()) {
      const text = `the key ${quoted(key)} is not allowed`
      const say = () => ({ text, hint: 'Rename it.' })
      copy.problems.push({ code: 'forbidden_key', path: [...path, key], at: here, say })
      continue
    }
    const [value, spot] = copyValue(copy, member, [...path, key])
    values[key] = value
    keys.set(key, { at: here, value: spot })
  }
  return [values, { at, keys }]
}

function charge(copy: Copy, bytes: number): void {
  copy.bytes += bytes
  if (copy.bytes > LIMITS.document_bytes) throw new TooLarge(copy.bytes)
}

function isScalar(value: unknown): value is Json {
  if (typeof value === 'string') return value.isWellFormed()
  return value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
