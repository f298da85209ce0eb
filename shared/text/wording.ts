import { Fault } from '../errors.ts'
/** How values of a document are shown in messages: short, quoted, without control or direction characters. */
export function quoted(text: string): string {
  const short = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
  return JSON.stringify(short).replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A value as its reader would call it. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'nothing (null)'
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'object' ? 'a mapping' : String(value)
}

/** `"a", "b" and 12 more`, or `none`. */
export function listed(names: Iterable<string>): string {
  const all = [...names]
  if (all.length === 0) return 'none'
  const first = all.slice(0, LISTED).map(quoted).join(', ')
  return all.length > LISTED ? `${first} and ${all.length - LISTED} more` : first
}

const SHOWN = 80
const LISTED = 12
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** A word this long is nobody's typing error; longer ones are compared by their start. */
const COMPARED = 64

/**
 * The candidate a person probably meant: the nearest by edits (insert, delete, replace, swap of neighbours; case does
 * not count) within a third of the word's length, the first of equals; undefined when none is near.
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.slice(0, COMPARED).toLowerCase()
  let best: string | undefined
  let limit = Math.max(1, Math.floor(wanted.length / 3))
  for (const candidate of candidates) {
    const seen = candidate.slice(0, COMPARED).toLowerCase()
    if (Math.abs(seen.length - wanted.length) > limit) continue
    const edits = distance(wanted, seen)
    if (edits > limit) continue
    best = candidate
    if (edits === 0) return best
    // From here on only a strictly nearer candidate wins.
    limit = edits - 1
  }
  return best
}

/** The hint that goes with it. */
export function didYouMean(near: string | undefined): string | undefined {
  return near === undefined ? undefined : `Did you mean ${quoted(near)}?`
}

/** Optimal string alignment distance, three rows at a time. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1]
      const replaced = at(above, column - 1) + (same ? 0 : 1)
      let edits = Math.min(at(above, column) + 1, at(current, column - 1) + 1, replaced)
      if (a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        edits = Math.min(edits, at(before, column - 2) + 1)
      current.push(edits)
    }
    before = above
    above = current
  }
  return at(above, b.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}

/** Says which name was probably meant, and all there are. */
export function unknownDocument(wanted: string, known: readonly string[], message: string): Fault {
  const near = didYouMean(suggest(wanted, known))
  const words = [message, ...(near === undefined ? [] : [near]), `There are: ${known.join(', ') || 'none'}.`]
  return new Fault('NotFound', 'unknown_dag', words.join(' '))
}
