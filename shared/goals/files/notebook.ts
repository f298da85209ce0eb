import * as z from 'zod'
import type { Json } from '../../text/json.ts'
import type { EvidenceText } from '../evidence.ts'
import { type Edited, findFrontMatter, setFrontMatter } from './yaml-edit.ts'

/** A notebook as far as its goal is concerned. */
interface Notebook {
  /** Position and text of the first raw or Markdown cell. */
  readonly head?: { readonly index: number; readonly source: string }
  /** What its code cells printed to stdout, in the order of the cells. */
  readonly texts: readonly EvidenceText[]
  readonly cells: number
  /** Cells have ids, these, from format 4.5 on. */
  readonly ids?: ReadonlySet<string>
}

/** Lines may come as a list, as Jupyter writes them, or as one text. */
const TextSchema = z.union([z.string(), z.array(z.string())])

const CellSchema = z.object({
  cell_type: z.string(),
  id: z.string().optional(),
  source: TextSchema,
  outputs: z
    .array(z.object({ output_type: z.string(), name: z.string().optional(), text: z.unknown().optional() }))
    .optional(),
})
type Cell = z.infer<typeof CellSchema>

const NotebookSchema = z.object({
  nbformat: z.literal(4, 'is it a notebook of format 4?'),
  nbformat_minor: z.int().default(0),
  cells: z.array(CellSchema),
})

/** Reads an .ipynb file, hostile or not. */
export function readNotebook(
  text: string,
): { readonly ok: true; readonly notebook: Notebook } | { readonly ok: false; readonly problem: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, problem: `it is no JSON: ${(error as Error).message.slice(0, 200)}` }
  }
  const read = NotebookSchema.safeParse(value)
  if (!read.success) {
    const [issue] = read.error.issues
    const place = issue?.path.join('.') || 'it'
    return { ok: false, problem: `it is no notebook that can be read: ${place}: ${issue?.message}` }
  }
  const { cells, nbformat_minor } = read.data
  const index = cells.findIndex(({ cell_type }) => cell_type === 'raw' || cell_type === 'markdown')
  const source = cells[index]?.source
  return {
    ok: true,
    notebook: {
      ...(source === undefined ? {} : { head: { index, source: joined(source) } }),
      texts: cells.flatMap(printedBy),
      cells: cells.length,
      ...(nbformat_minor < 5 ? {} : { ids: new Set(cells.flatMap(({ id }) => id ?? [])) }),
    },
  }
}

/** One text a cell: a marker may be printed in pieces. Cells are counted as people do, from 1. */
function printedBy({ cell_type, outputs = [] }: Cell, index: number): readonly EvidenceText[] {
  if (cell_type !== 'code') return []
  const printed = outputs.flatMap(({ output_type, name, text }) => {
    const read = TextSchema.safeParse(text)
    return output_type === 'stream' && name === 'stdout' && read.success ? [joined(read.data)] : []
  })
  return printed.length === 0 ? [] : [{ block: `cell ${index + 1}`, text: printed.join('') }]
}

function joined(text: string | readonly string[]): string {
  return typeof text === 'string' ? text : text.join('')
}

/**
 * Puts a value at a path of the front matter of a notebook: of its first raw or Markdown cell, or of a raw cell that is put
 * before all others where that one has none. Every other byte is kept, also inside that cell.
 */
export function setNotebookValue(text: string, path: readonly [string, ...string[]], value: Json): Edited {
  const read = readNotebook(text)
  if (!read.ok) return read
  const { head } = read.notebook
  const found = head === undefined ? 'none' : findFrontMatter(head.source).kind
  const cells = membersOf(text, text.indexOf('{')).get('cells')
  if (cells === undefined) return { ok: false, problem: 'it has no cells' }
  if (head === undefined || found === 'none') {
    const made = setFrontMatter('', path, value)
    return made.ok ? { ok: true, text: withCell(text, cells, read.notebook, made.text) } : made
  }
  const edited = setFrontMatter(head.source, path, value)
  const cell = itemsOf(text, cells.start)[head.index]
  const source = cell === undefined ? undefined : membersOf(text, cell.start).get('source')
  if (!edited.ok || source === undefined) return edited
  return { ok: true, text: spliced(text, source, withSource(text, source, edited.text)) }
}

function spliced(text: string, { start, end }: JsonPiece, inner: string): string {
  return text.slice(0, start) + inner + text.slice(end)
}

/** The cell's text in its old form, a list or one string; what is the same at both ends keeps its own spelling. */
function withSource(text: string, source: JsonPiece, edited: string): string {
  if (text[source.start] !== '[') return withString(text.slice(source.start, source.end), edited)
  const items = itemsOf(text, source.start)
  const old = items.map(({ start, end }) => String(JSON.parse(text.slice(start, end))))
  const lines = linesOf(edited)
  const { ahead, behind } = same(old, lines)
  const between = lines.slice(ahead, lines.length - behind)
  const only = ahead + behind + 1 === items.length ? items[ahead] : undefined
  // Somebody keeps several lines in one item: so they stay.
  const changed =
    only !== undefined && /\n./s.test(old[ahead] ?? '')
      ? [withString(text.slice(only.start, only.end), between.join(''))]
      : between.map((line) => JSON.stringify(line))
  const [first, second] = items
  const comma = first === undefined || second === undefined ? ', ' : text.slice(first.end, second.start)
  const kept = (from: JsonPiece | undefined, to: JsonPiece | undefined) =>
    from === undefined || to === undefined ? [] : [text.slice(from.start, to.end)]
  const pieces = [...kept(first, items[ahead - 1]), ...changed, ...kept(items[items.length - behind], items.at(-1))]
  return `${text.slice(source.start, first?.start)}${pieces.join(comma)}${text.slice(items.at(-1)?.end, source.end)}`
}

/** A JSON string, unit by unit: each of its escapes is one unit of UTF-16. */
function withString(raw: string, edited: string): string {
  const units = raw.slice(1, -1).match(/\\u[0-9a-fA-F]{4}|\\.|[^\\]/gs) ?? []
  const old = units.map((unit) => String(JSON.parse(`"${unit}"`)))
  const { ahead, behind } = same(old, edited.split(''))
  const changed = JSON.stringify(edited.slice(ahead, edited.length - behind)).slice(1, -1)
  return `"${units.slice(0, ahead).join('')}${changed}${units.slice(units.length - behind).join('')}"`
}

/** How many are equal at the beginning, and at the end of the rest. */
function same(old: readonly string[], now: readonly string[]): { readonly ahead: number; readonly behind: number } {
  const most = Math.min(old.length, now.length)
  let ahead = 0
  while (ahead < most && old[ahead] === now[ahead]) ahead += 1
  let behind = 0
  while (behind < most - ahead && old.at(-1 - behind) === now.at(-1 - behind)) behind += 1
  return { ahead, behind }
}

/** With their line breaks, as Jupyter keeps them. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function withCell(text: string, cells: JsonPiece, { ids, cells: count }: Notebook, source: string): string {
  const lines = linesOf(source.trimEnd())
  const cell = { cell_type: 'raw', ...(ids === undefined ? {} : { id: freeId(ids) }), metadata: {}, source: lines }
  const [first] = itemsOf(text, cells.start)
  const gap = first === undefined ? '' : text.slice(cells.start + 1, first.start)
  const indent = gap.slice(gap.lastIndexOf('\n') + 1)
  const json = gap.includes('\n') ? JSON.stringify(cell, null, 1).replaceAll('\n', `\n${indent}`) : JSON.stringify(cell)
  const comma = count === 0 ? '' : `,${gap}`
  return `${text.slice(0, cells.start + 1)}${gap}${json}${comma}${text.slice(first?.start ?? cells.start + 1)}`
}

function freeId(ids: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? 'goal-contract' : `goal-contract-${n}`
    if (!ids.has(id)) return id
  }
}

/** A value of a JSON text and where it stands: `end` is the offset behind it. */
export interface JsonPiece {
  readonly start: number
  readonly end: number
}

/**
 * The members of the object that begins at `at`, of a text JSON.parse() accepts. Of a key that is there twice the last,
 * as JSON.parse() has it. Goes through values without recursion: outputs of a notebook nest as they like.
 */
export function membersOf(text: string, at: number): ReadonlyMap<string, JsonPiece> {
  const members = new Map<string, JsonPiece>()
  for (let cursor = gap(text, at + 1); text[cursor] === '"'; cursor = gap(text, cursor)) {
    const named = endOf(text, cursor)
    const key: unknown = JSON.parse(text.slice(cursor, named))
    const start = gap(text, named)
    cursor = endOf(text, start)
    members.set(String(key), { start, end: cursor })
  }
  return members
}

/** The items of the list that begins at `at`. */
export function itemsOf(text: string, at: number): readonly JsonPiece[] {
  const items: JsonPiece[] = []
  for (let cursor = gap(text, at + 1); cursor < text.length && text[cursor] !== ']'; cursor = gap(text, cursor)) {
    const start = cursor
    cursor = endOf(text, start)
    items.push({ start, end: cursor })
  }
  return items
}

/** Where white space, commas and colons end. */
function gap(text: string, at: number): number {
  return skip(text, /[\s,:]*/y, at)
}

function skip(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  pattern.test(text)
  return pattern.lastIndex
}

/** Where the value that begins at `at` ends. */
function endOf(text: string, at: number): number {
  if (text[at] === '"') return endOfString(text, at)
  if (text[at] !== '{' && text[at] !== '[') return skip(text, /[^\s,\]}]*/y, at)
  const marks = /["[\]{}]/g
  marks.lastIndex = at
  let depth = 0
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') marks.lastIndex = endOfString(text, mark.index)
    else depth += mark[0] === '{' || mark[0] === '[' ? 1 : -1
    if (depth === 0) return mark.index + 1
  }
  return text.length
}

function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0
    while (text[quote - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return quote + 1
  }
  return text.length
}
