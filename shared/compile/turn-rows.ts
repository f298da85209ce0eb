import type { Rows } from './rows.ts'
import { at, zeros } from './zeros.ts'

/** The rows turned round: row u lists, ascending, the rows that hold u. Items are below the number of rows. */
export function turnRows({ starts, items }: Rows): Rows {
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
