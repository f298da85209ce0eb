import { describe, expect, test } from 'vitest'
import type { RunBudget } from '../../../shared/runs/budget.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { priceInLedger, shownPrice } from '../../../shared/runs/usage-cost.ts'
import { logOf, output, runStarted, started } from './event-log.ts'

describe('shownPrice()', () => {
  test('is what is known, and how many tokens are without a price', () => {
    const fold = foldRun(logOf([runStarted, started('a', 1), output('a', 1), started('b', 1), output('b', 1, null)]))
    expect(shownPrice(fold)).toEqual({ usd: 0.00025, unpriced_tokens: 15 })
  })

  test('is null where something was used and nothing of it has a price, and 0 where nothing was used', () => {
    const fold = foldRun(logOf([runStarted, started('b', 1), output('b', 1, null)]))
    expect(shownPrice(fold)).toEqual({ usd: null, unpriced_tokens: 15 })
    expect(shownPrice(foldRun(logOf([runStarted])))).toEqual({ usd: 0 })
  })
})

describe('priceInLedger()', () => {
  const ledger = (budget: Partial<RunBudget>): RunBudget => ({
    committed_tokens: 0,
    committed_usd_micros: 0,
    spent_tokens: 0,
    spent_usd_micros: 0,
    ...budget,
  })

  test.each([
    ['nothing was used', { unpriced_tokens: 0 }, { usd: 0 }],
    ['all of it has a price', { spent_tokens: 9, spent_usd_micros: 4, unpriced_tokens: 0 }, { usd: 0.000004 }],
    ['it was free', { spent_tokens: 9, unpriced_tokens: 0 }, { usd: 0 }],
    ['a part was free', { spent_tokens: 9, unpriced_tokens: 4 }, { usd: 0, unpriced_tokens: 4 }],
    ['no part has a price', { spent_tokens: 9, unpriced_tokens: 9 }, { usd: null, unpriced_tokens: 9 }],
    ['nobody counted then', { spent_tokens: 9, spent_usd_micros: 4 }, { usd: null }],
    ['nobody counted then, and nothing was used', {}, { usd: 0 }],
  ])('where %s', (_, budget, price) => {
    expect(priceInLedger(ledger(budget))).toEqual(price)
  })
})
