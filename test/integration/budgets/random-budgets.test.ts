import { test } from 'vitest'
import { openTestPlace } from '../test-place.ts'
import { budgetsHold, type OpenBudgets } from './random-budgets.ts'
import { PRICED, watched } from './watched-place.ts'

const open: OpenBudgets = async (paid, watch) => {
  const place = await openTestPlace({ providers: { paid } }, PRICED)
  return watched(place, place.place.world.runs, watch)
}

test('budgets hold on SQLite, whatever documents and providers do', () => budgetsHold(open, 40), 120_000)
