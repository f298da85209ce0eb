import { zeros } from './adjacency-rows.ts'

/** A square table of bits, a row for each number below `size`. 10,000 rows take 12.5 MB. */
export interface BitRows {
  readonly words: number
  readonly bits: Words
}

type Words = number[] | Int32Array

/** A large table is allocated outside the heap, in half the memory; for a small one that would take longer than all else. */
const MOST_IN_HEAP = 2_048

export function emptyBitMatrix(size: number): BitRows {
  const words = (size + 31) >>> 5
  const room = size * words
  return { words, bits: room > MOST_IN_HEAP ? new Int32Array(room) : zeros(room) }
}

export function hasBit({ words, bits }: BitRows, row: number, bit: number): boolean {
  return (((bits[row * words + (bit >>> 5)] ?? 0) >>> (bit & 31)) & 1) === 1
}

/**
 * row |= other row + the other row's own bit: with ancestors in the rows, `other` becomes one. Numbers are places in an
 * order: a row has no bit of its own number or a higher one, so half of the table is never touched.
 */
export function addAncestorRow({ words, bits }: BitRows, row: number, other: number): void {
  const to = row * words
  const from = other * words
  const last = other >>> 5
  for (let w = last; w >= 0; w--) bits[to + w] = (bits[to + w] ?? 0) | (bits[from + w] ?? 0)
  bits[to + last] = (bits[to + last] ?? 0) | (1 << (other & 31))
}
