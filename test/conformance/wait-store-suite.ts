import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { OutsideEvent } from '../../shared/runs/outside-event.ts'
import type { EventTopic, EventWait, WaitStore } from '../../shared/runs/wait-store.ts'

/** When the suite takes place. */
export const NOW = Date.parse('2026-11-22T12:00:00.000Z')

const at = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString()
const payload = { ref: `objstore://main/${'a'.repeat(64)}`, sha256: 'a'.repeat(64), bytes: 7 }
const run = { tenant: 'main', run_id: 'run_0000000000000000000000000a' }

const event = (id: string, more: Partial<OutsideEvent> = {}): OutsideEvent => ({
  tenant: 'main',
  id,
  name: 'order.paid',
  at: at(0),
  expires_at: at(60),
  payload,
  by: 'user:ana',
  ...more,
})

const wait = (block: number, more: Partial<EventWait> = {}): EventWait => ({
  ...run,
  block,
  epoch: 0,
  attempt: 1,
  name: 'order.paid',
  until: at(30),
  ...more,
})

interface Opened {
  readonly waits: WaitStore
  close(): Promise<void>
}

/** What every store of waits does. */
export function waitStoreSuite(name: string, open: () => Promise<Opened>): void {
  describe(`WaitStore on ${name}`, () => {
    let opened: Opened
    let waits: WaitStore
    beforeEach(async () => {
      opened = await open()
      waits = opened.waits
    })
    afterEach(() => opened.close())

    const ids = async (topic: Partial<EventTopic> = {}, limit = 100) => {
      const found: string[] = []
      let after: string | undefined
      do {
        const whole = { tenant: 'main', name: 'order.paid', ...topic }
        const page = await waits.keptEvents(whole, { now: at(10), limit, after })
        found.push(...page.events.map(({ id }) => id))
        after = page.next
      } while (after !== undefined)
      return found
    }

    test('events are listed under their name, and under their name and key, newest first', async () => {
      await waits.keepEvent(event('b', { at: at(2), key: '4711' }))
      await waits.keepEvent(event('a', { at: at(1) }))
      await waits.keepEvent(event('c', { at: at(3), key: 'ü#/\u4711' }))
      await waits.keepEvent(event('x', { name: 'order' }))
      expect(await ids()).toEqual(['c', 'b', 'a'])
      expect(await ids({ key: '4711' })).toEqual(['b'])
      expect(await ids({ key: 'ü#/\u4711' })).toEqual(['c'])
      expect(await ids({ name: 'order' })).toEqual(['x'])
      expect(await ids({ tenant: 'other' })).toEqual([])
    })

    test('what was kept is read as it was; an id is given once a tenant, and the first one stays', async () => {
      const first = event('a', { key: 'k', at: at(1) })
      expect(await waits.keepEvent(first)).toEqual(first)
      expect(
        await waits.keepEvent(event('a', { at: at(5), name: 'other', payload: { ...payload, bytes: 9 } })),
      ).toEqual(first)
      expect(await ids({ name: 'other' })).toEqual([])
      const page = await waits.keptEvents({ tenant: 'main', name: 'order.paid' }, { now: at(1), limit: 10 })
      expect(page.events).toEqual([first])
      const elsewhere = event('a', { tenant: 'other' })
      expect(await waits.keepEvent(elsewhere)).toEqual(elsewhere)
    })

    test('of many who send one id at once, one is kept', async () => {
      const sent = Array.from({ length: 8 }, (_, i) => event('same', { at: at(i), by: `user:${i}` }))
      const kept = await Promise.all(sent.map((one) => waits.keepEvent(one)))
      expect(new Set(kept.map((one) => one.by)).size).toBe(1)
      expect(await ids()).toEqual(['same'])
    })

    test('events of one moment are all listed, page by page', async () => {
      const all = Array.from({ length: 25 }, (_, i) => `e${String(i).padStart(2, '0')}`)
      for (const id of all) await waits.keepEvent(event(id))
      expect(await ids({}, 10)).toEqual(all.toReversed())
    })

    test('what has expired is not read', async () => {
      await waits.keepEvent(event('old', { at: at(-60), expires_at: at(9) }))
      await waits.keepEvent(event('new', { expires_at: at(11) }))
      expect(await ids()).toEqual(['new'])
    })

    test('waits are registered under name and key, once each, until they are forgotten', async () => {
      const registered = async (topic: Partial<EventTopic> = {}) => {
        const whole = { tenant: 'main', name: 'order.paid', ...topic }
        return (await waits.registered(whole, { limit: 100 })).waits
      }
      await waits.register(wait(1))
      await waits.register(wait(1))
      await waits.register(wait(2, { item: 3, key: 'k' }))
      await waits.register(wait(1, { tenant: 'other' }))
      expect(await registered()).toEqual([wait(1)])
      expect(await registered({ key: 'k' })).toEqual([wait(2, { item: 3, key: 'k' })])
      await waits.forget(wait(1))
      await waits.forget(wait(1))
      expect(await registered()).toEqual([])
      expect(await registered({ tenant: 'other' })).toHaveLength(1)
    })

    test('a thousand waits are read page by page, each once', async () => {
      for (let block = 0; block < 230; block += 1) await waits.register(wait(block))
      const found: number[] = []
      let after: string | undefined
      do {
        const page = await waits.registered({ tenant: 'main', name: 'order.paid' }, { limit: 100, after })
        found.push(...page.waits.map(({ block }) => block))
        after = page.next
      } while (after !== undefined)
      expect(found.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 230 }, (_, i) => i))
    })

    test('the first answer to a callback stays, of each pass of its block', async () => {
      const place = { block: 3, epoch: 0 }
      expect(await waits.callback(run, place)).toBeUndefined()
      const first = { at: at(1), payload }
      expect(await waits.keepCallback(run, place, first)).toEqual(first)
      expect(await waits.keepCallback(run, place, { at: at(2), payload })).toEqual(first)
      expect(await waits.callback(run, place)).toEqual(first)
      expect(await waits.callback(run, { block: 3, epoch: 1 })).toBeUndefined()
      expect(await waits.callback({ ...run, tenant: 'other' }, place)).toBeUndefined()
    })

    test('of many answers at once one stays', async () => {
      const all = Array.from({ length: 8 }, (_, i) => ({ at: at(i), payload }))
      const kept = await Promise.all(all.map((one) => waits.keepCallback(run, { block: 0, epoch: 0 }, one)))
      expect(new Set(kept.map((one) => one.at)).size).toBe(1)
    })

    test('every token of a wait is kept once', async () => {
      expect(await waits.tokens(run, '3/0/1')).toEqual([])
      for (const token of ['b', 'a', 'b']) await waits.addToken(run, '3/0/1', token)
      await waits.addToken(run, '3.1/0/1', 'c')
      await waits.addToken(run, '3/0/11', 'd')
      expect([...(await waits.tokens(run, '3/0/1'))].toSorted()).toEqual(['a', 'b'])
      expect(await waits.tokens(run, '3.1/0/1')).toEqual(['c'])
    })

    test('the signing key of a tenant is made once, and is another one for another tenant', async () => {
      const keys = await Promise.all(Array.from({ length: 4 }, () => waits.signingKey('main')))
      expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1)
      expect(keys[0]?.byteLength).toBe(32)
      expect(Buffer.from(await waits.signingKey('other'))).not.toEqual(Buffer.from(keys[0] ?? []))
    })
  })
}
