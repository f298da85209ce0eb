import { describe, expect, test } from 'vitest'
import type { RunStore } from '../../shared/runs/run-store.ts'

/** Searches with names, a tenant's. */
export function viewTests(store: () => RunStore): void {
  describe('saved views', () => {
    test('a tenant has its own, by name; the last that was written stays, and what is taken away is gone', async () => {
      const view = { name: 'broken', q: 'state:failed', by: 'user:ana', at: '2026-11-22T12:00:00.000Z' }
      await store().putView('viewing', view)
      await store().putView('viewing', { ...view, name: 'Alpha' })
      await store().putView('viewing', { ...view, q: 'state:blocked' })
      expect(await store().views('viewing')).toEqual([
        { ...view, name: 'Alpha' },
        { ...view, q: 'state:blocked' },
      ])
      expect(await store().views('others')).toEqual([])
      await store().removeView('viewing', 'Alpha')
      await store().removeView('viewing', 'Alpha')
      expect(await store().views('viewing')).toHaveLength(1)
    })
  })
}
