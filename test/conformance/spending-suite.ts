import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  EMPTY_LEDGER,
  type LedgerName,
  ledgerEnd,
  type SpendingLedgers,
  type SpendingRaise,
} from '../../shared/spending/ledger.ts'

/** When the suite takes place. */
export const NOW = Date.parse('2026-11-27T12:00:00.000Z')
const TTL = ledgerEnd('day', NOW)
const DAILY: LedgerName = { cap: 'daily', period: '2026-11-27' }
const amount = (tokens: number, usd_micros = 0) => ({ tokens, usd_micros })
const raise = (id: string, more: Partial<SpendingRaise> = {}): SpendingRaise => ({
  id,
  by: 'user:ana',
  at: '2026-11-27T12:00:00.000Z',
  reason: 'backfill',
  tokens: 0,
  usd_micros: 0,
  ...more,
})

interface Opened {
  readonly spending: SpendingLedgers
  close(): Promise<void>
}

/** What every place counts spending like. */
export function spendingSuite(name: string, open: () => Promise<Opened>): void {
  describe(`SpendingLedgers on ${name}`, () => {
    let opened: Opened
    let spending: SpendingLedgers
    beforeEach(async () => {
      opened = await open()
      spending = opened.spending
    })
    afterEach(() => opened.close())

    test('a ledger nobody wrote to is empty, and a settled call that was never reserved leaves it so', async () => {
      expect(await spending.read(DAILY)).toEqual(EMPTY_LEDGER)
      await spending.settle(DAILY, { id: 'a', amount: amount(5) }, amount(9))
      await spending.noteTold(DAILY)
      expect(await spending.read(DAILY)).toEqual(EMPTY_LEDGER)
    })

    test('the estimate is committed before, and what was used takes its place', async () => {
      const call = { id: 'a', amount: amount(100, 2_000) }
      const { ok, now } = await spending.reserve(DAILY, call, { cap_tokens: 150, cap_usd_micros: 9_000 }, TTL)
      expect(ok).toBe(true)
      expect(now).toMatchObject({ committed: amount(100, 2_000), spent: amount(0) })
      const after = { committed: amount(40, 700), spent: amount(40, 700) }
      expect(await spending.settle(DAILY, call, amount(40, 700))).toMatchObject(after)
      expect(await spending.settle(DAILY, call, amount(40, 700))).toBeUndefined()
      expect(await spending.read(DAILY)).toMatchObject(after)
    })

    test('to the last token it fits, one more is refused in either unit, and a refusal counts nothing', async () => {
      const cap = { cap_tokens: 100, cap_usd_micros: 1_000 }
      expect((await spending.reserve(DAILY, { id: 'big', amount: amount(101, 1) }, cap, TTL)).ok).toBe(false)
      expect((await spending.reserve(DAILY, { id: 'dear', amount: amount(1, 1_001) }, cap, TTL)).ok).toBe(false)
      expect((await spending.reserve(DAILY, { id: 'a', amount: amount(60, 600) }, cap, TTL)).ok).toBe(true)
      const refused = await spending.reserve(DAILY, { id: 'b', amount: amount(41, 1) }, cap, TTL)
      expect(refused).toMatchObject({ ok: false, now: { committed: amount(60, 600) } })
      expect((await spending.reserve(DAILY, { id: 'c', amount: amount(1, 401) }, cap, TTL)).ok).toBe(false)
      expect((await spending.reserve(DAILY, { id: 'd', amount: amount(40, 400) }, cap, TTL)).ok).toBe(true)
      expect((await spending.read(DAILY)).committed).toEqual(amount(100, 1_000))
    })

    test('what is written again changes nothing', async () => {
      const call = { id: 'a', amount: amount(60) }
      for (let again = 0; again < 3; again += 1)
        expect((await spending.reserve(DAILY, call, { cap_tokens: 100 }, TTL)).ok).toBe(true)
      expect((await spending.read(DAILY)).committed).toEqual(amount(60))
      for (let again = 0; again < 3; again += 1) await spending.settle(DAILY, call, amount(10))
      expect(await spending.read(DAILY)).toMatchObject({ committed: amount(10), spent: amount(10) })
      for (let again = 0; again < 2; again += 1) await spending.raise(DAILY, raise('r', { tokens: 5 }), TTL)
      expect(await spending.read(DAILY)).toMatchObject({ raised: amount(5), raises: [{ id: 'r' }] })
    })

    test('of many at once just as many get in as fit', async () => {
      const calls = Array.from({ length: 25 }, (_, n) => ({ id: `call-${n}`, amount: amount(10, 7) }))
      const answers = await Promise.all(calls.map((call) => spending.reserve(DAILY, call, { cap_tokens: 100 }, TTL)))
      expect(answers.filter(({ ok }) => ok)).toHaveLength(10)
      await Promise.all(calls.map((call) => spending.settle(DAILY, call, amount(4, 3))))
      expect(await spending.read(DAILY)).toMatchObject({ committed: amount(40, 30), spent: amount(40, 30) })
    })

    test('a call may use more than it had estimated; then nothing fits until people allow more', async () => {
      const call = { id: 'a', amount: amount(90) }
      await spending.reserve(DAILY, call, { cap_tokens: 100 }, TTL)
      await spending.settle(DAILY, call, amount(130))
      const next = { id: 'b', amount: amount(1) }
      expect((await spending.reserve(DAILY, next, { cap_tokens: 100 }, TTL)).ok).toBe(false)
      const raised = await spending.raise(DAILY, raise('r', { tokens: 31 }), TTL)
      expect(raised).toMatchObject({ committed: amount(130), raised: amount(31) })
      expect((await spending.reserve(DAILY, next, { cap_tokens: 100 }, TTL)).ok).toBe(true)
    })

    test('raises are kept in order with who and why, those of two at once as well', async () => {
      await spending.raise(DAILY, raise('1', { tokens: 1, reason: 'first' }), TTL)
      await Promise.all(['2', '3', '4'].map((id) => spending.raise(DAILY, raise(id, { usd_micros: 10 }), TTL)))
      const { raises, raised } = await spending.read(DAILY)
      expect(raises[0]).toEqual(raise('1', { tokens: 1, reason: 'first' }))
      expect(raises.map(({ id }) => id).toSorted()).toEqual(['1', '2', '3', '4'])
      expect(raised).toEqual(amount(1, 30))
    })

    test('a day, a month and another cap are counted apart', async () => {
      const call = { id: 'a', amount: amount(10) }
      const others: readonly LedgerName[] = [
        { cap: 'daily', period: '2026-11-28' },
        { cap: 'daily', period: '2026-11' },
        { cap: 'dailyx', period: '2026-11-27' },
      ]
      await spending.reserve(DAILY, call, {}, TTL)
      for (const other of others) expect(await spending.read(other)).toEqual(EMPTY_LEDGER)
      expect((await spending.read(DAILY)).committed).toEqual(amount(10))
    })

    test('that people were told is kept', async () => {
      const first = await spending.reserve(DAILY, { id: 'a', amount: amount(9) }, { cap_tokens: 10 }, TTL)
      expect(first.now.told).toBe(false)
      await spending.noteTold(DAILY)
      const next = await spending.reserve(DAILY, { id: 'b', amount: amount(1) }, { cap_tokens: 10 }, TTL)
      expect(next.now.told).toBe(true)
    })

    test('whatever is done in whatever order: committed is what was used and what is still open, and never over the cap but by use', async () => {
      const step = fc.record({
        id: fc.integer({ min: 0, max: 9 }).map(String),
        kind: fc.constantFrom(...KINDS),
        tokens: fc.integer({ min: 0, max: 60 }),
      })
      let round = 0
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          round += 1
          const of = { cap: 'law', period: String(round) }
          const model = openModel(100)
          for (const one of steps) await act(spending, of, model, one)
          const { spent, committed } = await spending.read(of)
          expect({ spent: spent.tokens, committed: committed.tokens }).toEqual(model.now())
        }),
        { numRuns: 30 },
      )
    })
  })
}

const KINDS = ['reserve', 'settle', 'raise'] as const

interface Step {
  readonly id: string
  readonly kind: (typeof KINDS)[number]
  readonly tokens: number
}

/** One step in both; what lets a call in or not must agree. */
async function act(
  spending: SpendingLedgers,
  of: LedgerName,
  model: ReturnType<typeof openModel>,
  { id, kind, tokens }: Step,
): Promise<void> {
  if (kind === 'raise') {
    model.raise(id, tokens)
    await spending.raise(of, raise(id, { tokens }), TTL)
  } else if (kind === 'settle') {
    await spending.settle(of, { id, amount: amount(model.asked(id, 0)) }, amount(tokens))
    model.settle(id, tokens)
  } else {
    const call = { id, amount: amount(model.asked(id, tokens)) }
    const { ok } = await spending.reserve(of, call, { cap_tokens: 100 }, TTL)
    expect(ok).toBe(model.reserve(id, call.amount.tokens))
  }
}

/** The same count in one thread, of tokens alone. A call asks for the same amount each time. */
function openModel(cap: number) {
  const open = new Map<string, number>()
  const asked = new Map<string, number>()
  const raised = new Map<string, number>()
  let used = 0
  const sum = (of: Map<string, number>) => [...of.values()].reduce((all, one) => all + one, 0)
  return {
    asked: (id: string, tokens: number) => asked.get(id) ?? tokens,
    raise: (id: string, tokens: number) => void raised.set(id, raised.get(id) ?? tokens),
    reserve(id: string, tokens: number): boolean {
      if (open.has(id)) return true
      if (used + sum(open) + tokens > cap + sum(raised)) return false
      open.set(id, tokens)
      asked.set(id, tokens)
      return true
    },
    settle(id: string, tokens: number): void {
      if (open.delete(id)) used += tokens
    },
    now: () => ({ spent: used, committed: used + sum(open) }),
  }
}
