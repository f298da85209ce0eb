import { describe, expect, test } from 'vitest'
import type { RunStore } from '../../shared/runs/run-store.ts'
import { keyOf, newRun, question, time } from './run-store-fixture.ts'

type Store = () => RunStore

/** What talking to people over a channel that repeats itself needs: requests known again, turns, where a message is. */
export function slackItemTests(store: Store, heavy: string[]): void {
  describe('noted requests', () => notedTests(store))
  describe('turns', { tags: heavy }, () => turnTests(store))
  describe('the message of an approval', { tags: heavy }, () => messageTests(store))
}

const CLICK = { tenant: 'main', route: 'slack', key: 'T1|U1|apr_1|approve|1.2' }

function notedTests(store: Store): void {
  test('a request is the first once, then open until its work is done', async () => {
    expect(await store().noteRequest(CLICK)).toBe('first')
    expect(await store().noteRequest(CLICK)).toBe('open')
    for (let i = 0; i < 2; i += 1) await store().endRequest(CLICK)
    expect(await store().noteRequest(CLICK)).toBe('done')
  })

  test('of fifty at once one is the first', async () => {
    const noted = await Promise.all(Array.from({ length: 50 }, () => store().noteRequest(CLICK)))
    expect(noted.filter((one) => one === 'first')).toHaveLength(1)
    expect(noted.filter((one) => one === 'open')).toHaveLength(49)
  })

  test('keys, routes and tenants are each their own, whatever the key is', async () => {
    for (const other of [{ key: '#' }, { key: '' }, { key: 'ü'.repeat(3_000) }, { route: 'r' }, { tenant: 'other' }]) {
      expect(await store().noteRequest({ ...CLICK, ...other })).toBe('first')
    }
    expect(await store().noteRequest(CLICK)).toBe('first')
  })

  test('the end of one that was never noted is nothing', async () => {
    await store().endRequest(CLICK)
    expect(await store().noteRequest(CLICK)).toBe('first')
  })
}

const TURN = { tenant: 'main', name: 'slack/run_1' }

function turnTests(store: Store): void {
  const take = (by: string, now: number, until: number) => store().takeTurn(TURN, by, time(now), time(until))

  test('is one worker’s until it ends it, or its time is over', async () => {
    expect(await take('a', 0, 10)).toBe(true)
    expect(await take('b', 5, 15)).toBe(false)
    expect(await take('a', 5, 20)).toBe(true)
    expect(await take('b', 19, 30)).toBe(false)
    expect(await take('b', 20, 30)).toBe(true)
    await store().endTurn(TURN, 'a')
    expect(await take('a', 25, 40)).toBe(false)
    await store().endTurn(TURN, 'b')
    expect(await take('a', 25, 40)).toBe(true)
  })

  test('fifty at once: one has it', async () => {
    const taken = await Promise.all(Array.from({ length: 50 }, (_, i) => take(`w${i}`, 0, 10)))
    expect(taken.filter(Boolean)).toHaveLength(1)
  })

  test('names and tenants are each their own', async () => {
    expect(await take('a', 0, 10)).toBe(true)
    for (const other of [{ name: 'slack/run_2' }, { tenant: 'other' }]) {
      expect(await store().takeTurn({ ...TURN, ...other }, 'b', time(0), time(10))).toBe(true)
    }
  })
}

function messageTests(store: Store): void {
  test('stays with the approval, also when the question is written again', async () => {
    const run = keyOf(newRun(1).meta)
    await store().create(newRun(1))
    const message = { channel: 'C012AB3CD', ts: '1700000000.000100' }
    await store().noteMessage(run, 'a1', message)
    expect(await store().approval(run, 'a1')).toBeUndefined()
    await store().putApproval(run, question('a1', 1), 'token one')
    await store().noteMessage(run, 'a1', message)
    await store().putApproval(run, question('a1', 1), 'token two')
    expect(await store().approval(run, 'a1')).toEqual({ ...question('a1', 1), slack: message })
    await store().noteMessage(run, 'a1', { ...message, ts: '1700000000.000200' })
    expect((await store().approvals(run)).map(({ slack }) => slack)).toEqual([message])
  })
}
