/**
 * How many single changes (one character changed, added or taken out) turn `a` into `b`; undefined when more than
 * `max`. Only the band around the diagonal that `max` allows is filled (Ukkonen 1985): O(max * length).
 */
export function editDistance(a: readonly string[], b: readonly string[], max: number): number | undefined {
  if (Math.abs(a.length - b.length) > max) return undefined
  let row = Uint32Array.from({ length: b.length + 1 }, (_, j) => j)
  for (const [i, letter] of a.entries()) {
    row = nextRow(row, i + 1, b, letter, max)
    if (row.every((cost) => cost > max)) return undefined
  }
  const distance = row[b.length] ?? 0
  return distance <= max ? distance : undefined
}

/** Row i of the table from the one above it; cells outside the band are more than `max` away. */
function nextRow(above: Uint32Array, i: number, b: readonly string[], letter: string, max: number) {
  const row = new Uint32Array(b.length + 1).fill(max + 1)
  if (i <= max) row[0] = i
  const last = Math.min(b.length, i + max)
  for (let j = Math.max(1, i - max); j <= last; j += 1) {
    const change = (above[j - 1] ?? 0) + (letter === b[j - 1] ? 0 : 1)
    row[j] = Math.min(change, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
  }
  return row
}
