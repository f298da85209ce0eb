import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'vitest'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { atMost } from '../../how-much.ts'
import { openTestPlace } from '../test-place.ts'
import { budgetsHold, type OpenBudgets } from './random-budgets.ts'
import { PRICED, watched } from './watched-place.ts'

const open: OpenBudgets = async (paid, watch) => {
  const place = await openTestPlace({ providers: { paid } }, PRICED)
  return watched(place, place.place.world.runs, watch)
}

test('budgets hold on SQLite, whatever documents and providers do', () => budgetsHold(open, atMost(40, 10)), 120_000)

test('what is read late is no ledger that fell', () => budgetsHold(openLate, 10), 60_000)

/** Two reads of the ledger at once are answered in either order, as over a wire. */
const openLate: OpenBudgets = (paid, watch) => {
  let reads = 0
  const late = (store: RunStore): RunStore => ({
    ...store,
    async head(...asked) {
      const seen = await store.head(...asked)
      reads += 1
      await sleep(reads % 2 === 1 ? 8 : 0)
      return seen
    },
  })
  return open(paid, (store, ...told) => watch(late(store), ...told))
}
