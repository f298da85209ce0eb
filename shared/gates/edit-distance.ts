/**
 * How many single changes (one character changed, added or taken out) turn `a` into `b`; undefined when more than
 * `max`. Only the band around the diagonal that `max` allows is filled (Ukkonen 1985): O(max * length).
 */
export function editDistance(a: readonly string[], b: readonly string[], max: number): number | undefined {
  if (Math.abs(a.length - b.length) > max) return undefined
  let above = Uint32Array.from({ length: b.length + 1 }, (_, j) => Math.min(j, max + 1))
  let row = new Uint32Array(b.length + 1)
  for (const [i, letter] of a.entries()) {
    if (fill(row, above, i + 1, b, letter, max) > max) return undefined
    ;[above, row] = [row, above]
  }
  const distance = above[b.length] ?? 0
  return distance <= max ? distance : undefined
}

/**
 * Row i of the table from the one above it; the cells just outside the band are more than `max` away, those further
 * out are never read. Answers the row's least cell.
 */
function fill(row: Uint32Array, above: Uint32Array, i: number, b: readonly string[], letter: string, max: number) {
  const first = Math.max(1, i - max)
  const last = Math.min(b.length, i + max)
  let left = first === 1 ? i : max + 1
  let least = left
  row[first - 1] = left
  for (let j = first; j <= last; j += 1) {
    const change = (above[j - 1] ?? 0) + (letter === b[j - 1] ? 0 : 1)
    left = Math.min(change, (above[j] ?? 0) + 1, left + 1)
    if (left < least) least = left
    row[j] = left
  }
  if (last < b.length) row[last + 1] = max + 1
  return least
}
