import {
  COLLECTION_STYLE,
  DEFAULT_SCALAR_STYLE_RULES,
  dump,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml'
import { LIMITS } from '../../limits.ts'
import { canonicalJson, type Json } from '../../text/json.ts'
import { type ReadDocument, readYaml } from '../../text/yaml.ts'
import { memberOf } from '../goal-contract.ts'

export type Edited = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string }

/** A piece of the text and what it becomes. */
interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/**
 * Puts a value at a path of keys into a YAML text (JSON is one): what stands there is replaced, else it is added, before
 * the key `before` where there is one. Every byte outside is kept, and the answer is read again before it is given: it
 * says the value there, and everywhere else what it said.
 */
export function setYamlValue(
  text: string,
  path: readonly [string, ...string[]],
  value: Json,
  { before, eol = eolOf(text) }: { readonly before?: string; readonly eol?: string } = {},
): Edited {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const bare = text.slice(mark.length)
  // A text without values is about to have one.
  const read = saysNothing(bare) ? EMPTY : readYaml(bare)
  if (!read.ok) {
    const said = read.problems[0]?.say({ who: 'the document', place: 'the document' }).text
    return { ok: false, problem: said ?? 'it cannot be read' }
  }
  const expected = withMember(read.source.value, path, value)
  if (expected === undefined) return { ok: false, problem: `it is no mapping, or its "${path[0]}" is none` }
  const root = read === EMPTY ? undefined : yamlNodes(bare)
  for (const edit of editsOf({ text: bare, eol, before }, root, path, value)) {
    const edited = mark + bare.slice(0, edit.from) + edit.text + bare.slice(edit.to)
    const again = readYaml(edited)
    if (again.ok && canonicalJson(again.source.value) === canonicalJson(expected)) return { ok: true, text: edited }
  }
  return { ok: false, problem: 'its form leaves no place to write to; write the value by hand' }
}

/** A YAML text of blank lines and comments. */
export function saysNothing(yaml: string): boolean {
  return yaml.split(/\r\n|\n|\r/).every((line) => /^[ \t]*(#|$)/.test(line))
}

const EMPTY: ReadDocument = { ok: true, source: { value: {}, spot: { at: 0 } } }

/** The value with a member set; undefined where a key on the way has a value that is no mapping. */
function withMember(value: Json, [key, ...rest]: readonly [string, ...string[]], set: Json): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const [next, ...later] = rest
  if (next === undefined) return { ...value, [key]: set }
  const inner = withMember(memberOf(value, key) ?? {}, [next, ...later], set)
  return inner === undefined ? undefined : { ...value, [key]: inner }
}

interface Position {
  readonly text: string
  readonly eol: string
  readonly before: string | undefined
}

/** What might be done, the nicest first. */
function editsOf(
  place: Position,
  node: YamlNode | undefined,
  [key, ...rest]: readonly [string, ...string[]],
  value: Json,
): readonly Edit[] {
  const [next, ...later] = rest
  const entry = node?.entries?.find((one) => one.key === key)
  if (entry !== undefined && next !== undefined && entry.value.entries !== undefined) {
    return editsOf({ ...place, before: undefined }, entry.value, [next, ...later], value)
  }
  const nested = rest.reduceRight<Json>((inner, name) => ({ [name]: inner }), value)
  if (node === undefined) return [firstEntry(place, key, nested)]
  if (entry !== undefined) return replacements(place, node, entry, nested)
  return node.flow ? [flowAddition(place.text, node, key, nested)] : additions(place, node, key, nested)
}

/** Behind the comments of a text that has nothing else. */
function firstEntry({ text, eol }: Position, key: string, value: Json): Edit {
  const open = text === '' || /[\r\n]$/.test(text) ? '' : eol
  const entry = `${open}${key}:${eol}${blockText(value, 2, eol)}${eol}`
  return { from: text.length, to: text.length, text: entry }
}

function replacements({ text, eol }: Position, node: YamlNode, entry: YamlEntry, value: Json): readonly Edit[] {
  const { colon } = entry
  const end = Math.max(colon, entry.value.end)
  if (node.flow) return [{ from: colon, to: end, text: ` ${jsonText(value, lineBefore(text, entry.start))}` }]
  const block = `${eol}${blockText(value, columnOf(text, entry.start) + 2, eol)}`
  // A comment behind the last line stays, unless it would become part of a text there.
  return [end, lineEnd(text, end)].map((to) => ({ from: colon, to, text: block }))
}

function additions({ text, eol, before }: Position, node: YamlNode, key: string, value: Json): readonly Edit[] {
  const [first] = node.entries ?? []
  if (first === undefined) return []
  const column = columnOf(text, first.start)
  const indent = ' '.repeat(column)
  const entry = `${key}:${eol}${blockText(value, column + 2, eol)}`
  const named = node.entries?.find((one) => one.key === before)
  const ahead = named === undefined ? undefined : commentsBefore(text, lineStart(text, named.start), indent)
  const behind = lineEnd(text, node.end)
  return [
    ...(ahead === undefined ? [] : [{ from: ahead, to: ahead, text: `${indent}${entry}${eol}${eol}` }]),
    { from: behind, to: behind, text: `${eol}${indent}${entry}` },
    { from: first.start, to: first.start, text: `${entry}${eol}${indent}` },
  ]
}

/** In the first place, on a line of its own where the next member has one. */
function flowAddition(text: string, { start, entries = [] }: YamlNode, key: string, value: Json): Edit {
  const gap = /^\s*/.exec(text.slice(start + 1))?.[0] ?? ''
  const line = entries.length === 0 ? undefined : lineBefore(text, start + 1 + gap.length)
  const comma = entries.length === 0 ? '' : line === undefined ? ', ' : ','
  const member = `${JSON.stringify(key)}: ${jsonText(value, line)}${comma}`
  return { from: start + 1, to: start + 1, text: line === undefined ? member : gap + member }
}

/** The line break and indentation before what begins its line there. */
function lineBefore(text: string, at: number): string | undefined {
  return /(?:\r\n|\n|\r)[ \t]*$/.exec(text.slice(Math.max(0, at - 200), at))?.[0]
}

/** On lines of its own where what it belongs to has one. */
function jsonText(value: Json, line: string | undefined): string {
  return line === undefined ? JSON.stringify(value) : JSON.stringify(value, null, 2).replaceAll('\n', () => line)
}

/** As YAML lines at a column, without the last line break. */
function blockText(value: Json, column: number, eol: string): string {
  const lines = dump(value, { lineWidth: -1, noRefs: true, scalarStyleRules: STYLES }).trimEnd().split('\n')
  return lines.map((line) => (line === '' ? line : ' '.repeat(column) + line)).join(eol)
}

/** Texts of several lines in quotes: what stands behind the last line of a block of text could become part of it. */
const { tryLongOrMultilineAsBlock: _, ...OTHER_STYLES } = DEFAULT_SCALAR_STYLE_RULES
const STYLES = Object.values(OTHER_STYLES)

/** Comment lines right above belong to what follows them. */
function commentsBefore(text: string, at: number, indent: string): number {
  let start = at
  for (;;) {
    const above = lineStart(text, text.slice(0, start).replace(/(\r\n|\n|\r)$/, '').length)
    if (start === 0 || !text.startsWith(`${indent}#`, above)) return start
    start = above
  }
}

function eolOf(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? '\n'
}

function lineStart(text: string, at: number): number {
  return Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1
}

function lineEnd(text: string, at: number): number {
  const rest = text.slice(at).search(/[\r\n]/)
  return rest < 0 ? text.length : at + rest
}

function columnOf(text: string, at: number): number {
  return at - lineStart(text, at)
}

/** The YAML at the head of a Markdown text, between two lines `---`; offsets of the YAML itself. */
type FrontMatter =
  | { readonly kind: 'none' }
  | { readonly kind: 'open' }
  | { readonly kind: 'found'; readonly from: number; readonly to: number }

const OPEN = /^\uFEFF?---[ \t]*(?:\r\n|\n|\r)/
const CLOSE = /^(?:---|\.\.\.)[ \t]*$/m

/** `open`: it begins and never ends. */
export function findFrontMatter(text: string): FrontMatter {
  const opened = OPEN.exec(text)
  if (opened === null) return { kind: 'none' }
  const from = opened[0].length
  const closed = text.slice(from).search(CLOSE)
  return closed < 0 ? { kind: 'open' } : { kind: 'found', from, to: from + closed }
}

/** The YAML alone, one line down: its lines are those of the text. undefined = there is none. */
export function frontMatterYaml(text: string): string | undefined {
  const found = findFrontMatter(text)
  return found.kind === 'found' ? `\n${text.slice(found.from, found.to)}` : undefined
}

/** The text with a value at a path of its front matter, which is made where there is none. Other bytes are kept. */
export function setFrontMatter(text: string, path: readonly [string, ...string[]], value: Json): Edited {
  const found = findFrontMatter(text)
  if (found.kind === 'open') return { ok: false, problem: 'its front matter begins with "---" and never ends' }
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n'
  if (found.kind === 'found') {
    const edited = setYamlValue(text.slice(found.from, found.to), path, value, { eol })
    return edited.ok ? { ok: true, text: text.slice(0, found.from) + edited.text + text.slice(found.to) } : edited
  }
  const made = setYamlValue('', path, value, { eol })
  if (!made.ok) return made
  const mark = text.startsWith('\uFEFF') ? 1 : 0
  return { ok: true, text: `${text.slice(0, mark)}---${eol}${made.text}---${eol}${text.slice(mark)}` }
}

/** A value of a YAML text and where it stands: `end` is the offset behind its last character. */
interface YamlNode {
  readonly start: number
  end: number
  readonly flow: boolean
  /** Of a mapping, in document order. */
  readonly entries?: YamlEntry[]
}

interface YamlEntry {
  readonly key: string
  readonly start: number
  /** Behind the colon. */
  readonly colon: number
  readonly value: YamlNode
}

/** The root of a text that readYaml() accepts: one document without aliases. */
function yamlNodes(text: string): YamlNode | undefined {
  const walk: Walk = { text, cursor: 0, frames: [], root: undefined }
  for (const event of parseEvents(text, { maxDepth: LIMITS.depth })) step(walk, event)
  return walk.root
}

interface Walk {
  readonly text: string
  /** End of the last token. */
  cursor: number
  readonly frames: Frame[]
  root: YamlNode | undefined
}

interface Frame {
  /** undefined: the document. */
  readonly node: YamlNode | undefined
  readonly braced: boolean
  key: Omit<YamlEntry, 'value'> | undefined
}

function step(walk: Walk, event: Event): void {
  switch (event.type) {
    case EVENT_ID.DOCUMENT:
      walk.frames.push({ node: undefined, braced: false, key: undefined })
      return
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE: {
      const flow = event.style === COLLECTION_STYLE.FLOW
      const entries = event.type === EVENT_ID.MAPPING ? { entries: [] } : {}
      const node = { start: event.start, end: event.start, flow, ...entries }
      // `[a: 1]` has a mapping without braces.
      const braced = flow && '{['.includes(walk.text[event.start] ?? '')
      attach(walk, node, undefined)
      walk.cursor = event.start + (braced ? 1 : 0)
      walk.frames.push({ node, braced, key: undefined })
      return
    }
    case EVENT_ID.SCALAR: {
      const node = scalarNode(walk, event)
      walk.cursor = Math.max(walk.cursor, node.end, event.tagEnd, event.anchorEnd)
      attach(walk, node, event)
      return
    }
    case EVENT_ID.ALIAS:
      // readYaml() has refused it.
      return
    case EVENT_ID.POP: {
      const frame = walk.frames.pop()
      if (frame?.braced === true) walk.cursor = skip(walk.text, /(?:[\s,:?]|#[^\r\n]*)*[\]}]/y, walk.cursor)
      if (frame?.node !== undefined) frame.node.end = walk.cursor
    }
  }
}

/** A node is the root, the next key, the value of the key before it, or an item, which nobody asks for. */
function attach(walk: Walk, node: YamlNode, scalar: ScalarEvent | undefined): void {
  const frame = walk.frames.at(-1)
  if (frame?.node === undefined) walk.root ??= node
  const entries = frame?.node?.entries
  if (frame === undefined || entries === undefined) return
  if (frame.key === undefined) {
    const key = scalar === undefined ? '' : getScalarValue(walk.text, scalar)
    const colon = skip(walk.text, /(?:\s|#[^\r\n]*)*:?/y, node.end)
    frame.key = { key, start: node.start, colon }
    walk.cursor = colon
  } else {
    entries.push({ ...frame.key, value: node })
    frame.key = undefined
  }
}

function scalarNode({ text, cursor }: Walk, { valueStart, valueEnd, style }: ScalarEvent): YamlNode {
  if (valueStart < 0) return { start: cursor, end: cursor, flow: false }
  const quoted = style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED
  if (quoted) return { start: valueStart - 1, end: valueEnd + 1, flow: false }
  // A block scalar has the line breaks behind it, which may be content.
  const end = valueStart + text.slice(valueStart, valueEnd).trimEnd().length
  return { start: valueStart, end, flow: false }
}

function skip(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : from
}
