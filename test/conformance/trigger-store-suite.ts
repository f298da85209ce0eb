import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runIdOfFiring, type TriggerKey } from '../../shared/triggers/trigger.ts'
import type { Firing, TriggerState, TriggerStore } from '../../shared/triggers/trigger-store.ts'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const at = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString()

const key: TriggerKey = { tenant: 'main', document: 'report', trigger: 'nightly' }
const values = { ref: `objstore://main/${'a'.repeat(64)}`, sha256: 'a'.repeat(64), bytes: 2 }

const firing = (id: string, more: Partial<Firing> = {}): Firing => ({
  ...key,
  id,
  kind: 'schedule',
  at: at(0),
  kept_at: at(1),
  values,
  state: 'owed',
  run_id: runIdOfFiring(key, id),
  tries: 0,
  next_at: at(1),
  ...more,
})

const state = (version: number, more: Partial<TriggerState> = {}): TriggerState => ({
  ...key,
  version,
  since: at(0),
  schedule: { cron: '0 6 * * *', timezone: 'Europe/Berlin', cursor: at(version) },
  ...more,
})

interface Opened {
  readonly triggers: TriggerStore
  close(): Promise<void>
}

/** What every store of triggers does. */
export function triggerStoreSuite(name: string, open: () => Promise<Opened>): void {
  describe(`TriggerStore on ${name}`, () => {
    let opened: Opened
    let store: TriggerStore
    beforeEach(async () => {
      opened = await open()
      store = opened.triggers
    })
    afterEach(() => opened.close())

    const ids = async (limit = 100) => {
      const found: string[] = []
      let after: string | undefined
      do {
        const page = await store.firings(key, { limit, after })
        found.push(...page.firings.map(({ id }) => id))
        after = page.next
      } while (after !== undefined)
      return found
    }
    const owed = async (tenant = 'main', limit = 100) => {
      const listed = (await store.owed(tenant, limit)).map(({ id }) => id)
      expect((await store.takeOwed(tenant, limit)).map(({ id }) => id)).toEqual(listed)
      return listed
    }

    test('a firing that is over forgets its inputs and stays the firing it was; an owed one still needs them', async () => {
      await store.keepFiring(firing('a'))
      await store.keepFiring(firing('b'))
      await store.forgetInputs(key, 'a')
      expect(await store.firing(key, 'a')).toEqual(firing('a'))
      const over = firing('a', { state: 'started', ended_at: at(2) })
      expect(await store.moveFiring(over)).toBe(true)
      await store.forgetInputs(key, 'a')
      await store.forgetInputs(key, 'a')
      await store.forgetInputs(key, 'none')
      const { values: _, ...rest } = over
      expect(await store.firing(key, 'a')).toEqual(rest)
      expect(await store.keepFiring(firing('a'))).toEqual(rest)
      expect(await store.firing(key, 'b')).toEqual(firing('b'))
      expect(await owed()).toEqual(['b'])
    })

    test('a state is written by whoever saw the one before it', async () => {
      expect(await store.state(key)).toBeUndefined()
      expect(await store.putState(state(2))).toBe(false)
      expect(await store.putState(state(1))).toBe(true)
      expect(await store.putState(state(1, { since: at(9) }))).toBe(false)
      expect(await store.putState(state(2, { paused: { by: 'user:ana', at: at(2) } }))).toBe(true)
      expect(await store.state(key)).toEqual(state(2, { paused: { by: 'user:ana', at: at(2) } }))
      expect(await store.state({ ...key, tenant: 'other' })).toBeUndefined()
      expect(await store.state({ ...key, document: 'report/nightly', trigger: '' })).toBeUndefined()
    })

    test('of many who change a state at once one does', async () => {
      await store.putState(state(1))
      const done = await Promise.all(Array.from({ length: 8 }, (_, i) => store.putState(state(2, { since: at(i) }))))
      expect(done.filter((one) => one)).toHaveLength(1)
      expect((await store.state(key))?.version).toBe(2)
    })

    test('a firing is kept once an id of its trigger, and the first one stays', async () => {
      const first = firing('time:a')
      expect(await store.keepFiring(first)).toEqual(first)
      expect(await store.keepFiring(firing('time:a', { at: at(7), kept_at: at(8), tries: 3 }))).toEqual(first)
      expect(await store.firing(key, 'time:a')).toEqual(first)
      expect(await store.firing(key, 'time:b')).toBeUndefined()
      expect(await store.firing({ ...key, trigger: 'other' }, 'time:a')).toBeUndefined()
      expect(await owed()).toEqual(['time:a'])
      expect(await ids()).toEqual(['time:a'])
    })

    test('of many that are kept at once under one id one is', async () => {
      const all = Array.from({ length: 8 }, (_, i) => firing('same', { at: at(i), tries: i }))
      const kept = await Promise.all(all.map((one) => store.keepFiring(one)))
      expect(new Set(kept.map(({ tries }) => tries)).size).toBe(1)
      expect(await owed()).toEqual(['same'])
      expect(await ids()).toEqual(['same'])
    })

    test('what is owed is told oldest first, of every trigger of the tenant, until it is over', async () => {
      await store.keepFiring(firing('c', { at: at(3) }))
      await store.keepFiring(firing('a', { at: at(1), trigger: 'other' }))
      await store.keepFiring(firing('b', { at: at(2), document: 'ü #/' }))
      await store.keepFiring(firing('x', { tenant: 'other' }))
      await store.keepFiring(firing('over', { state: 'failed', ended_at: at(4) }))
      expect(await owed()).toEqual(['a', 'b', 'c'])
      expect(await owed('main', 2)).toEqual(['a', 'b'])
      expect(await store.moveFiring(firing('c', { at: at(3), state: 'started', ended_at: at(5) }))).toBe(true)
      expect(await owed()).toEqual(['a', 'b'])
      expect(await owed('other')).toEqual(['x'])
    })

    test('a firing is moved while it is owed: put off as often as one likes, ended once', async () => {
      await store.keepFiring(firing('a'))
      const off = firing('a', { tries: 1, next_at: at(3), reason: { code: 'too_many_runs', message: 'later' } })
      expect(await store.moveFiring(off)).toBe(true)
      expect(await store.firing(key, 'a')).toEqual(off)
      expect(await owed()).toEqual(['a'])
      const over = firing('a', { state: 'skipped', ended_at: at(4) })
      expect(await store.moveFiring(over)).toBe(true)
      expect(await store.moveFiring(firing('a', { state: 'started' }))).toBe(false)
      expect(await store.moveFiring(off)).toBe(false)
      expect(await store.moveFiring(firing('nobody'))).toBe(false)
      expect(await store.firing(key, 'a')).toEqual(over)
      expect(await store.keepFiring(firing('a'))).toEqual(over)
      expect(await owed()).toEqual([])
    })

    test('firings are listed newest first, page by page, those of one moment too', async () => {
      for (let i = 0; i < 25; i += 1) await store.keepFiring(firing(`f${i}`, { at: at(Math.floor(i / 5)) }))
      const all = await ids()
      expect(all).toHaveLength(25)
      expect(new Set(all).size).toBe(25)
      expect(await ids(4)).toEqual(all)
      const times = all.map((id) => Math.floor(Number(id.slice(1)) / 5))
      expect(times).toEqual(times.toSorted((a, b) => b - a))
    })

    test('ids may be anything', async () => {
      const odd = ['key:ü\n#/😀', 'key:', `key:${'x'.repeat(256)}`, 'key:a', 'key:A']
      for (const id of odd) await store.keepFiring(firing(id))
      for (const id of odd) expect((await store.firing(key, id))?.id).toBe(id)
      expect((await owed()).toSorted()).toEqual(odd.toSorted())
    })
  })
}
