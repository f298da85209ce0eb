/** Lists of numbers, one behind the other: row v is `items` from `starts[v]` up to, not including, `starts[v + 1]`. */
export interface Rows {
  readonly starts: number[]
  readonly items: number[]
}

export function rowsOf(lists: readonly (readonly number[])[]): Rows {
  const starts = zeros(lists.length + 1)
  let size = 0
  for (let v = 0; v < lists.length; v++) {
    size += lists[v]?.length ?? 0
    starts[v + 1] = size
  }
  const items = zeros(size)
  let end = 0
  for (let v = 0; v < lists.length; v++) {
    const list = lists[v] ?? []
    for (let i = 0; i < list.length; i++) items[end++] = list[i] ?? 0
  }
  return { starts, items }
}

export function rowSize({ starts }: Rows, v: number): number {
  return at(starts, v + 1) - at(starts, v)
}

/** Row v as a list of its own. */
export function itemsOf({ starts, items }: Rows, v: number): number[] {
  const from = at(starts, v)
  const list = new Array<number>(at(starts, v + 1) - from)
  for (let i = 0; i < list.length; i++) list[i] = at(items, from + i)
  return list
}

/** Copied, not filled: that takes half the time for the dozens of short lists a small graph needs. */
const ZEROS: readonly number[] = new Array<number>(512).fill(0)

/** A list of so many zeros, to be written over. */
export function zeros(length: number): number[] {
  return length <= ZEROS.length ? ZEROS.slice(0, length) : new Array<number>(length).fill(0)
}

/** The number at an index that is there. */
export function at(list: readonly number[], index: number): number {
  return list[index] ?? 0
}

/** The rows turned round: row u lists, ascending, the rows that hold u. Items are below the number of rows. */
export function transposeRows({ starts, items }: Rows): Rows {
  const size = starts.length - 1
  const turned = zeros(size + 1)
  const places = zeros(items.length)
  for (let i = 0; i < items.length; i++) turned[at(items, i) + 1] = at(turned, at(items, i) + 1) + 1
  for (let u = 0; u < size; u++) turned[u + 1] = at(turned, u + 1) + at(turned, u)
  const next = turned.slice()
  for (let v = 0; v < size; v++) {
    const end = at(starts, v + 1)
    for (let i = at(starts, v); i < end; i++) {
      const u = at(items, i)
      const place = at(next, u)
      places[place] = v
      next[u] = place + 1
    }
  }
  return { starts: turned, items: places }
}
