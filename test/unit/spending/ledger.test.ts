import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  capsOf,
  EMPTY_LEDGER,
  fitsLedger,
  isUsedUp,
  ledgerAt,
  ledgerEnd,
  limitOf,
  periodEnd,
  usedShare,
} from '../../../shared/spending/ledger.ts'
import { SPENDING_PERIODS, SpendingSettingsSchema } from '../../../shared/spending/settings.ts'

const NIGHT = Date.parse('2026-11-30T23:59:59.999Z')

describe('days and months are those of UTC', () => {
  test.each([
    ['day', '2026-11-30', '2026-12-01T00:00:00.000Z'],
    ['month', '2026-11', '2026-12-01T00:00:00.000Z'],
  ] as const)('a %s of the last millisecond of November', (per, period, end) => {
    expect(ledgerAt({ name: 'x', per }, NIGHT)).toEqual({ cap: 'x', period })
    expect(new Date(periodEnd(per, NIGHT)).toISOString()).toBe(end)
    expect(ledgerAt({ name: 'x', per }, NIGHT + 1).period).toBe(end.slice(0, period.length))
  })

  test('every moment is before the end of its period, which is another one, and the count is kept longer', () => {
    const moment = fc.integer({ min: 0, max: 4_102_444_800_000 })
    fc.assert(
      fc.property(moment, fc.constantFrom(...SPENDING_PERIODS), (now, per) => {
        const end = periodEnd(per, now)
        const period = (at: number) => ledgerAt({ name: 'x', per }, at).period
        expect(end).toBeGreaterThan(now)
        expect(period(end - 1)).toBe(period(now))
        expect(period(end)).not.toBe(period(now))
        expect(ledgerEnd(per, now) * 1_000).toBeGreaterThan(end)
      }),
    )
  })
})

test('a cap counts what its tenant, document and labels say; without them everything', () => {
  const caps = SpendingSettingsSchema.parse([
    { name: 'all', per: 'day', usd: 1 },
    { name: 'acme', per: 'day', usd: 1, tenant: 'acme' },
    { name: 'triage', per: 'month', tokens: 5, dag: 'triage' },
    { name: 'both', per: 'month', tokens: 5, tenant: 'acme', dag: 'triage' },
    { name: 'growth', per: 'day', usd: 1, labels: { team: 'growth' } },
    { name: 'live', per: 'day', usd: 1, labels: { team: 'growth', stage: 'prod' }, dag: 'triage' },
  ])
  const names = (tenant: string, dag: string, labels: Record<string, string> = {}) =>
    capsOf(caps, { tenant, dag, labels }).map(({ name }) => name)
  expect(names('main', 'other')).toEqual(['all'])
  expect(names('main', 'triage')).toEqual(['all', 'triage'])
  expect(names('acme', 'other')).toEqual(['all', 'acme'])
  expect(names('acme', 'triage')).toEqual(['all', 'acme', 'triage', 'both'])
  expect(names('main', 'other', { team: 'growth', more: 'x' })).toEqual(['all', 'growth'])
  expect(names('main', 'triage', { team: 'growth', stage: 'prod' })).toEqual(['all', 'triage', 'growth', 'live'])
  expect(names('main', 'triage', { team: 'sales', stage: 'prod' })).toEqual(['all', 'triage'])
})

test('what fits, what is used up and how much of it: raises are on top, a unit without a cap is none', () => {
  const limit = limitOf({ usd: 0.000002, tokens: 100 })
  expect(limit).toEqual({ cap_tokens: 100, cap_usd_micros: 2 })
  const ledger = {
    ...EMPTY_LEDGER,
    committed: { tokens: 90, usd_micros: 1 },
    raised: { tokens: 20, usd_micros: 0 },
  }
  expect(fitsLedger(ledger, limit, { tokens: 30, usd_micros: 1 })).toBe(true)
  expect(fitsLedger(ledger, limit, { tokens: 31, usd_micros: 0 })).toBe(false)
  expect(fitsLedger(ledger, limit, { tokens: 0, usd_micros: 2 })).toBe(false)
  expect(fitsLedger(ledger, { cap_tokens: 100 }, { tokens: 0, usd_micros: 99 })).toBe(true)
  expect(usedShare(ledger, limit)).toBe(0.75)
  expect(isUsedUp(ledger, limit)).toBe(false)
  expect(isUsedUp({ ...ledger, committed: { tokens: 120, usd_micros: 0 } }, limit)).toBe(true)
})

describe('settings', () => {
  test.each([
    [{ name: 'a', per: 'day' }, /set usd, tokens, or both/],
    [{ name: 'A b', per: 'day', usd: 1 }, /lower-case letters/],
    [{ name: 'a', per: 'week', usd: 1 }, /day.*month/],
    [{ name: 'a', per: 'day', usd: 0 }, /0/],
    [{ name: 'a', per: 'day', tokens: 1.5 }, /int/],
    [{ name: 'a', per: 'day', usd: 1, label: 'x' }, /label/],
  ])('%j is refused', (cap, words) => {
    const { error } = SpendingSettingsSchema.safeParse([cap])
    expect(JSON.stringify(error?.issues)).toMatch(words)
  })

  test('names are unique', () => {
    const cap = { name: 'a', per: 'day', usd: 1 }
    expect(SpendingSettingsSchema.safeParse([cap, cap]).error?.issues[0]?.message).toBe('two caps have the same name')
  })
})
