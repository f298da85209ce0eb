/**
 * Small graphs need dozens of short arrays, which as allocations of their own would take as long as the rest: they share
 * blocks of memory. No part of one is given out twice.
 */
const BLOCK = 8_192
/** Longer ones are allocated as they are. */
const SHARED = 512

let block = new Int32Array(BLOCK)
let given = 0

export function zeros(length: number): Int32Array {
  if (length > SHARED) return new Int32Array(length)
  if (given + length > BLOCK) {
    block = new Int32Array(BLOCK)
    given = 0
  }
  given += length
  return new Int32Array(block.buffer, (given - length) * Int32Array.BYTES_PER_ELEMENT, length)
}

/** The number at an index that is there. */
export function at(list: Int32Array, index: number): number {
  return list[index] ?? 0
}
