import { describe, expect, test } from 'vitest'
import { BULK_PART, type Bulk, newBulkId } from '../../shared/runs/bulk.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'
import { time } from './run-store-fixture.ts'

let made = 0

/** A plan of its own tenant. */
function plan(more: Partial<Bulk> = {}): Bulk {
  made += 1
  return {
    tenant: `bulks_${made}`,
    bulk_id: newBulkId(1_000 + made, Buffer.from(`random ${String(made).padStart(3, '0')}`)),
    version: 1,
    action: 'stop',
    q: 'state:running',
    by: { kind: 'user', id: 'ana', tenant: `bulks_${made}`, scopes: ['runs:start'] },
    planned_at: time(0),
    count: 3,
    state: 'planned',
    next: 0,
    done: 0,
    refused: 0,
    ...more,
  }
}

const ids = (count: number) => Array.from({ length: count }, (_, i) => `run_${String(i).padStart(26, '0')}`)

/** One action on many runs: the frozen list, outcomes, and when somebody has to look. */
export function bulkTests(store: () => RunStore): void {
  describe('bulks', () => {
    test('a plan is there with its list, of any length, and no other tenant has it', async () => {
      const all = ids(BULK_PART + 7)
      const bulk = plan({ count: all.length })
      await store().putBulk(bulk, all)
      expect(await store().bulk(bulk)).toEqual(bulk)
      const part = await store().bulkRuns(bulk, BULK_PART - 2, 4)
      expect(part).toEqual([498, 499, 500, 501].map((n) => ({ n, run_id: all[n] })))
      expect(await store().bulkRuns(bulk, BULK_PART + 5, 50)).toHaveLength(2)
      expect(await store().bulkRuns(bulk, all.length, 50)).toEqual([])
      expect(await store().bulk({ ...bulk, tenant: 'other' })).toBeUndefined()
      expect(await store().bulks('other', { limit: 5 })).toEqual([])
    })

    test('it is changed only from the version before, and looked at when that says so', async () => {
      const bulk = plan()
      await store().putBulk(bulk, ids(3))
      const at = time(-1_000)
      expect(await store().moveBulk({ ...bulk, version: 2, state: 'running' }, at)).toBe(true)
      expect(await store().moveBulk({ ...bulk, version: 2, state: 'cancelled' }, undefined)).toBe(false)
      expect(await store().bulk(bulk)).toMatchObject({ version: 2, state: 'running' })
      expect(await store().bulkCheck(bulk)).toBe(at)
      const due = async () => (await store().due(time(0), 1_000)).filter(({ tenant }) => tenant === bulk.tenant)
      await expect.poll(due).toEqual([{ tenant: bulk.tenant, run_id: bulk.bulk_id }])
      await store().moveBulkCheck(bulk, time(-2_000), time(9_000))
      expect(await store().bulkCheck(bulk)).toBe(at)
      await store().moveBulkCheck(bulk, at, time(9_000))
      await expect.poll(due).toEqual([])
      expect(await store().moveBulk({ ...bulk, version: 3, state: 'done' }, undefined)).toBe(true)
      expect(await store().bulkCheck(bulk)).toBeUndefined()
    })

    test('the first outcome of a run stays', async () => {
      const bulk = plan()
      await store().putBulk(bulk, ids(3))
      const refused = { at: time(1), refused: { code: 'run_held', message: 'It is held.' } }
      await store().putBulkOutcome(bulk, 1, refused)
      await store().putBulkOutcome(bulk, 1, { at: time(2) })
      const [first, second] = ids(3)
      expect(await store().bulkRuns(bulk, 0, 2)).toEqual([
        { n: 0, run_id: first },
        { n: 1, run_id: second, outcome: refused },
      ])
    })

    test('a tenant has its bulks newest first', async () => {
      const one = plan()
      const two = { ...plan(), tenant: one.tenant }
      for (const bulk of [two, one]) await store().putBulk(bulk, [])
      expect(await store().bulks(one.tenant, { limit: 5 })).toEqual([two, one])
      expect(await store().bulks(one.tenant, { limit: 5, before: two.bulk_id })).toEqual([one])
      expect(await store().bulks(one.tenant, { limit: 1 })).toEqual([two])
    })
  })
}
