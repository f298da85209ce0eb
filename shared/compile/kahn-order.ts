import { type Rows, rowSize } from './rows.ts'
import { at, zeros } from './zeros.ts'

/** All numbers, each after those of its row in `upstream`, first come first served; what is on a cycle is left out. */
export function kahnOrder(upstream: Rows, { starts, items }: Rows): number[] {
  const size = starts.length - 1
  const order = zeros(size)
  const waiting = zeros(size)
  let known = 0
  for (let v = 0; v < size; v++) {
    waiting[v] = rowSize(upstream, v)
    if (waiting[v] === 0) order[known++] = v
  }
  for (let i = 0; i < known; i++) {
    const u = at(order, i)
    const end = at(starts, u + 1)
    for (let i = at(starts, u); i < end; i++) {
      const v = at(items, i)
      const left = at(waiting, v) - 1
      waiting[v] = left
      if (left === 0) order[known++] = v
    }
  }
  order.length = known
  return order
}
