import { describe, expect, test } from 'vitest'
import type { KeyQueue } from '../../shared/runs/key-queue.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'
import { time } from './run-store-fixture.ts'

const OF = { tenant: 'main', queue: 'a'.repeat(64) }

const going = (...ids: string[]): KeyQueue => ({
  running: ids.map((run_id) => ({ run_id, since: time(1) })),
  waiting: [],
})

/** The queues of keys: compare-and-set, one of them after the other. */
export function keyQueueTests(store: () => RunStore, heavy: string[]): void {
  describe('the queue of a key', { tags: heavy }, () => {
    test('is empty before anybody came, and what was put last', async () => {
      const first = await store().keyQueue(OF)
      expect(first).toEqual({ running: [], waiting: [], version: undefined })
      expect(await store().putKeyQueue(OF, going('a'), first.version)).toBe(true)
      const second = await store().keyQueue(OF)
      const waiting = [{ run_id: 'b', limit: 1, at: time(2), priority: 0 }]
      expect(second).toMatchObject(going('a'))
      expect(await store().putKeyQueue(OF, { ...going('a'), waiting }, second.version)).toBe(true)
      expect(await store().keyQueue(OF)).toMatchObject({ ...going('a'), waiting })
      expect(await store().keyQueue({ ...OF, queue: 'b'.repeat(64) })).toMatchObject({
        running: [],
        version: undefined,
      })
      expect(await store().keyQueue({ ...OF, tenant: 'other' })).toMatchObject({ running: [], version: undefined })
    })

    test('is not written over by who saw an earlier one', async () => {
      const empty = await store().keyQueue(OF)
      await store().putKeyQueue(OF, going('a'), empty.version)
      const seen = await store().keyQueue(OF)
      expect(await store().putKeyQueue(OF, going('x'), empty.version)).toBe(false)
      expect(await store().putKeyQueue(OF, going('b'), seen.version)).toBe(true)
      expect(await store().putKeyQueue(OF, going('x'), seen.version)).toBe(false)
      expect(await store().putKeyQueue(OF, going('x'), 'never')).toBe(false)
      expect(await store().keyQueue(OF)).toMatchObject(going('b'))
    })

    test('once it was empty, it is never taken for the one before', async () => {
      await store().putKeyQueue(OF, going('a'), undefined)
      const before = await store().keyQueue(OF)
      expect(await store().putKeyQueue(OF, going(), before.version)).toBe(true)
      const empty = await store().keyQueue(OF)
      expect(empty).toMatchObject(going())
      expect(await store().putKeyQueue(OF, going('b'), empty.version)).toBe(true)
      expect(await store().putKeyQueue(OF, going('x'), before.version)).toBe(false)
      expect(await store().putKeyQueue(OF, going('x'), undefined)).toBe(false)
      expect(await store().keyQueue(OF)).toMatchObject(going('b'))
    })

    test('of twenty that write over the same one, one does', async () => {
      for (const version of ['none', 'there'] as const) {
        const seen = version === 'none' ? undefined : (await store().keyQueue(OF)).version
        const racers = Array.from({ length: 20 }, (_, n) => store().putKeyQueue(OF, going(`r${n}`), seen))
        const won = (await Promise.all(racers)).flatMap((done, n) => (done ? [`r${n}`] : []))
        expect(won).toHaveLength(1)
        expect(await store().keyQueue(OF)).toMatchObject(going(...won))
      }
    })
  })
}
