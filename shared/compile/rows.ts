import { at, zeros } from './zeros.ts'
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
