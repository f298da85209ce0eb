/**
 * Arrays of one length that share their memory: `columns(3, n)` answers a function that gives one after the other, all
 * zeros. Small graphs are compiled in less time than a dozen allocations of their own would take.
 */
export function columns(count: number, length: number): () => Int32Array {
  const memory = new Int32Array(count * length)
  let at = 0
  return () => {
    const column = memory.subarray(at, at + length)
    at += length
    return column
  }
}

/** The number at an index that is there. */
export function at(list: Int32Array, index: number): number {
  return list[index] ?? 0
}
