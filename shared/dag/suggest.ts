import { quoted } from './wording.ts'

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
