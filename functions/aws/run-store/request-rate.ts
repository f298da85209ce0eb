import type { RequestRate } from '../../../shared/runs/request-rate.ts'
import { as } from './attribute-values.ts'
import type { RunTable } from './run-table.ts'

/**
 * How many requests a caller made in a window. `w` names the request counted last: one that the SDK sends again is not
 * counted twice, unless another came between; then it is, on the careful side.
 */
export function rateOf(table: RunTable): RequestRate {
  return {
    async countRequest(tenant, caller, window, cap) {
      if (cap < 1) return false
      const nonce = table.nonce()
      const key = { pk: as.text(`T#${tenant}#RATE`), sk: as.text(`${caller}#${window}`) }
      const counted = await table.update(key, ({ path, value }) => {
        const [count, mine] = [path('n'), value(as.text(nonce))]
        const set = [`${path('w')} = ${mine}`, `${path('ttl')} = ${value(as.number(keptUntil(table.now())))}`]
        return {
          update: `SET ${set.join(', ')} ADD ${count} ${value(as.number(1))}`,
          condition: `attribute_not_exists(${count}) OR (${count} < ${value(as.number(cap))} AND ${path('w')} <> ${mine})`,
        }
      })
      if (counted.ok) return true
      const now = counted.sent > 1 ? (counted.item ?? (await table.get(key))) : undefined
      return now?.w?.S === nonce
    },
  }
}

/** Windows are minutes: after an hour nobody asks. */
function keptUntil(now: number): number {
  return Math.floor(now / 1_000) + 3_600
}
