import { chainOf } from '../../../shared/runs/hash-chain.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { as } from './attribute-values.ts'
import { eventsOf } from './event-texts.ts'
import { headKey, type StoredHead } from './head-item.ts'
import { itemKey, pageSk } from './item-keys.ts'
import type { RunTable } from './run-table.ts'
import { keepItem } from './time-to-live.ts'

/**
 * Moves the tail into a page: first the page, keyed by its LAST seq, then the trim, if base and length are as they were
 * (docs/architecture.md, "What an append writes"). Whoever loses leaves a page that begins like the winner's: what a
 * page says depends on (base, n) only. The hash chain is closed here, where the order is known.
 */
export async function spill(table: RunTable, run: RunKey, { base, base_hash, tail }: StoredHead): Promise<void> {
  const n = tail.length
  if (n === 0) return
  await table.put({
    ...itemKey(run, pageSk(base + n)),
    base: as.number(base),
    n: as.number(n),
    events: as.list(tail),
    ttl: keepItem(table),
  })
  const hash = chainOf(eventsOf(tail, base, run.run_id), base_hash)
  await table.update(headKey(run), ({ path, value }) => ({
    update: `SET ${path('tail')} = ${value(as.list([]))}, ${path('base')} = ${value(as.number(base + n))}, ${path('base_hash')} = ${value(as.text(hash))}`,
    condition: `${path('base')} = ${value(as.number(base))} AND size(${path('tail')}) = ${value(as.number(n))}`,
  }))
}
