import { at, zeros } from './zeros.ts'

/** A square table of bits, a row for each number below `size`. 10,000 rows take 12.5 MB. */
export interface BitRows {
  readonly words: number
  readonly bits: Int32Array
}

export function bitRows(size: number): BitRows {
  const words = (size + 31) >>> 5
  return { words, bits: zeros(size * words) }
}

export function hasBit({ words, bits }: BitRows, row: number, bit: number): boolean {
  return ((at(bits, row * words + (bit >>> 5)) >>> (bit & 31)) & 1) === 1
}

/**
 * row |= other row + the other row's own bit: with ancestors in the rows, `other` becomes one. Numbers are places in an
 * order: a row has no bit of its own number or a higher one, so half of the table is never touched.
 */
export function addRow({ words, bits }: BitRows, row: number, other: number): void {
  const to = row * words
  const from = other * words
  for (let w = other >>> 5; w >= 0; w--) bits[to + w] = at(bits, to + w) | at(bits, from + w)
  bits[to + (other >>> 5)] = at(bits, to + (other >>> 5)) | (1 << (other & 31))
}
