import { DEFAULT_SCALAR_STYLE_RULES, dump } from 'js-yaml'
import { canonicalJson, type Json } from '../../canonical.ts'
import { type ReadDocument, readYaml } from '../../dag/yaml.ts'
import { memberOf } from '../contract-problems.ts'
import { type YamlEntry, type YamlNode, yamlNodes } from './yaml-nodes.ts'

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

interface Place {
  readonly text: string
  readonly eol: string
  readonly before: string | undefined
}

/** What might be done, the nicest first. */
function editsOf(
  place: Place,
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
function firstEntry({ text, eol }: Place, key: string, value: Json): Edit {
  const open = text === '' || /[\r\n]$/.test(text) ? '' : eol
  const entry = `${open}${key}:${eol}${blockText(value, 2, eol)}${eol}`
  return { from: text.length, to: text.length, text: entry }
}

function replacements({ text, eol }: Place, node: YamlNode, entry: YamlEntry, value: Json): readonly Edit[] {
  const { colon } = entry
  const end = Math.max(colon, entry.value.end)
  if (node.flow) return [{ from: colon, to: end, text: ` ${jsonText(value, lineBefore(text, entry.start))}` }]
  const block = `${eol}${blockText(value, columnOf(text, entry.start) + 2, eol)}`
  // A comment behind the last line stays, unless it would become part of a text there.
  return [end, lineEnd(text, end)].map((to) => ({ from: colon, to, text: block }))
}

function additions({ text, eol, before }: Place, node: YamlNode, key: string, value: Json): readonly Edit[] {
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
