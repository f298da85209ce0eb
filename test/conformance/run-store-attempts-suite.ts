import { describe, expect, test } from 'vitest'
import type { RunStore, StoredGoalAttempt } from '../../shared/runs/run-store.ts'
import { time } from './run-store-fixture.ts'

/** What a lineage keeps of its failed attempts at a goal. */
export function goalAttemptTests(store: () => RunStore, heavy: string[]): void {
  const attempt = (run_id: string, ms = 1): Omit<StoredGoalAttempt, 'n'> => ({
    run_id,
    at: time(ms),
    status: 'PARTIAL',
    fingerprint: 'f'.repeat(64),
    unmet: ['AC1', 'ü'],
    metCount: 1,
    totalCount: 3,
  })
  const put = (n: number, of: Omit<StoredGoalAttempt, 'n'>, root = 'run_0', tenant = 'main') =>
    store().putGoalAttempt(tenant, root, n, of)

  describe('attempts at a goal', { tags: heavy }, () => {
    test('are there whole, in order of their numbers, also past nine', async () => {
      expect(await store().goalAttempts('main', 'run_0')).toEqual([])
      for (const n of [2, 1, 10, 3]) expect(await put(n, attempt(`run_${n}`))).toBe(true)
      const kept = await store().goalAttempts('main', 'run_0')
      expect(kept).toEqual([1, 2, 3, 10].map((n) => ({ n, ...attempt(`run_${n}`) })))
    })

    test('a number is given once: another run is refused, its own run finds what it noted first', async () => {
      expect(await put(1, attempt('run_1'))).toBe(true)
      expect(await put(1, attempt('run_2'))).toBe(false)
      expect(await put(1, { ...attempt('run_1', 9), status: 'BLOCKED', unmet: [] })).toBe(true)
      expect(await store().goalAttempts('main', 'run_0')).toEqual([{ n: 1, ...attempt('run_1') }])
    })

    test('of fifty runs that want one number at once one has it', async () => {
      const runs = Array.from({ length: 50 }, (_, i) => `run_${i}`)
      const taken = await Promise.all(runs.map((run_id) => put(1, attempt(run_id))))
      expect(taken.filter(Boolean)).toHaveLength(1)
      const [kept] = await store().goalAttempts('main', 'run_0')
      expect(kept?.run_id).toBe(runs[taken.indexOf(true)])
    })

    test('roots and tenants are each their own, and links are no attempts', async () => {
      const link = { run_id: 'run_1', from: 'run_0', kind: 'pivot', at: time(1) } as const
      await store().linkRun('main', 'run_0', link)
      expect(await put(1, attempt('run_1'))).toBe(true)
      expect(await put(1, attempt('run_2'), 'run_00')).toBe(true)
      expect(await put(1, attempt('run_3'), 'run_0', 'other')).toBe(true)
      expect(await store().goalAttempts('main', 'run_0')).toEqual([{ n: 1, ...attempt('run_1') }])
      expect(await store().lineage('main', 'run_0')).toEqual([link])
    })
  })
}
