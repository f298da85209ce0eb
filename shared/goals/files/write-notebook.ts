import type { Json } from '../../canonical.ts'
import { findFrontMatter, setFrontMatter } from './front-matter.ts'
import { itemsOf, type JsonPiece, membersOf } from './json-pieces.ts'
import { type Notebook, readNotebook } from './notebook.ts'
import type { Edited } from './set-yaml-value.ts'

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
