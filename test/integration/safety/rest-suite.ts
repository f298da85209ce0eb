import { afterEach, describe, expect, test } from 'vitest'
import { endRestOf } from '../../../functions/runs/rest.ts'
import { runsPool } from '../../../shared/runs/run-store.ts'
import { atMost } from '../../how-much.ts'
import type { TestPlace } from '../test-place.ts'
import {
  dailyOnSqlite,
  eventually,
  HOLDS,
  holders,
  noHolders,
  type OpenSafe,
  post,
  QUICK,
  startOf,
  stateOf,
  WAITS,
} from './safety-place.ts'

const TWO = {
  name: 'two',
  blocks: ['one', 'two'].map((id) => ({ id, mode: 'approval', approval: { required: true, prompt: `${id}?` } })),
}

const THEN_WORKS = {
  name: 'then-works',
  blocks: QUICK.blocks.map((block) => ({ ...block, approval: { required: true, prompt: 'Go on?' } })),
}

/** Runs in which only people, or what they wait for, can move anything: they hold no place. On one kind of store. */
export function restSuite(store: string, openSafe: OpenSafe): void {
  const daily = dailyOnSqlite(store)
  let open: TestPlace
  afterEach(() => open.close())
  const opened = async (safety: object) => {
    open = await openSafe(safety)
    return open.place.world.runs
  }
  const started = async (dag: object) => {
    const { status, json } = await startOf(open, dag)
    expect(status).toBe(201)
    return String(json.run_id)
  }
  const head = async (run_id: string) => open.place.world.runs.head({ tenant: 'main', run_id })
  const rests = async (run_id: string, wants = false) => {
    const { resting } = (await head(run_id)) ?? {}
    return resting !== undefined && (resting.wants_at !== undefined) === wants
  }
  const resting = (run_id: string, wants = false) => eventually(() => rests(run_id, wants), 'the run rests')
  const yes = async (run_id: string) => {
    const { approvals = {} } = (await head(run_id)) ?? {}
    const [id = '', { digest = '' } = {}] =
      Object.entries(approvals).find(([, { status }]) => status === 'pending') ?? []
    return post(open, 'decide-approval', { run_id, body: { approval_id: id, decision: 'approve', digest } })
  }
  const waitingFor = async (run_id: string) =>
    (await post(open, 'get-run', { run_id, body: null })).json.run?.waiting_for

  describe(`a run that waits for people, on ${store}`, () => {
    test('holds no place, however many wait, and all of them go on when they may', {
      ...daily,
      timeout: 120_000,
    }, async () => {
      const runs = await opened({ max_runs: 2 })
      const ids: string[] = []
      for (let i = 0; i < atMost(60, 12); i += 1) {
        ids.push(await started(THEN_WORKS))
        await resting(ids.at(-1) ?? '')
      }
      await noHolders(open)
      expect(new Set(await Promise.all(ids.map((id) => stateOf(open, id))))).toEqual(new Set(['paused_approval']))
      let most = 0
      const look = setInterval(async () => {
        most = Math.max(most, Object.keys(await runs.leases(runsPool('main'))).length)
      }, 1)
      const answers = await Promise.all(ids.map(yes))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      for (const id of ids) expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
      clearInterval(look)
      expect(most).toBeLessThanOrEqual(2)
      await noHolders(open)
      expect(await runs.queued('main', 10)).toEqual([])
    })

    test('goes on with every block that is called while it rests, whichever of them ends the rest', async () => {
      await opened({ max_runs: 2 })
      const run_id = await started(WAITS)
      await resting(run_id)
      const was = await head(run_id)
      const { world } = open.place
      // Each has read that the run rests.
      const ends = [1, 2, 3].map(() => endRestOf(world, { tenant: 'main', run_id }, was ?? { state: 'running' }))
      expect(await Promise.all(ends)).toEqual([undefined, undefined, undefined])
      expect((await head(run_id))?.resting).toBeUndefined()
    })

    test(
      'waits for a place when it may go on and none is free; nobody is refused, and no start goes before it',
      daily,
      async () => {
        const runs = await opened({ max_runs: 1 })
        const asks = await started(WAITS)
        await resting(asks)
        const other = await started(HOLDS)
        const { deadline_at } = (await head(asks)) ?? {}
        expect((await yes(asks)).status).toBe(200)
        await resting(asks, true)
        await eventually(async () => (await runs.queued('main', 1)).length === 1, 'it stands in the queue')
        const [queued] = await runs.queued('main', 1)
        expect(await stateOf(open, asks)).toBe('pending')
        expect(await waitingFor(asks)).toBe(
          `waiting for a place since ${queued?.at}: 1st in the queue, 1 run is active`,
        )
        expect((await startOf(open, WAITS)).status).toBe(429)
        await post(open, 'stop-run', { run_id: other })
        expect((await open.ended(asks)).at(-1)?.type).toBe('run:completed')
        expect(Date.parse((await head(asks))?.deadline_at ?? '')).toBeGreaterThan(Date.parse(deadline_at ?? ''))
        await noHolders(open)
        expect(await runs.queued('main', 1)).toEqual([])
      },
    )

    test('goes on when its question expires, with a place', daily, async () => {
      const runs = await opened({ max_runs: 1 })
      const blocks = WAITS.blocks.map((block) => ({
        ...block,
        approval: { ...block.approval, timeout_sec: 2, on_timeout: 'fail' },
      }))
      const asks = await started({ name: 'expires', blocks })
      await resting(asks)
      const other = await started(HOLDS)
      await resting(asks, true)
      expect((await head(asks))?.state).toBe('running')
      await post(open, 'stop-run', { run_id: other })
      expect((await open.ended(asks)).at(-1)?.type).toBe('run:failed')
      await noHolders(open)
      expect(await runs.queued('main', 1)).toEqual([])
    })

    test(
      'of two questions the first answer takes the place back, and the next wait gives it away again',
      daily,
      async () => {
        await opened({ max_runs: 1 })
        const asks = await started(TWO)
        await resting(asks)
        expect((await yes(asks)).status).toBe(200)
        const hasOneAnswer = async () => {
          const asked = Object.values((await head(asks))?.approvals ?? {})
          return asked.filter(({ status }) => status === 'pending').length === 1
        }
        await eventually(hasOneAnswer, 'one is answered')
        await resting(asks)
        await noHolders(open)
        await yes(asks)
        await open.ended(asks)
        await noHolders(open)
      },
    )

    test('is stopped while it wants a place, and leaves the queue', daily, async () => {
      const runs = await opened({ max_runs: 1 })
      const asks = await started(WAITS)
      await resting(asks)
      const other = await started(HOLDS)
      await yes(asks)
      await eventually(async () => (await runs.queued('main', 1)).length === 1, 'it stands in the queue')
      await post(open, 'stop-run', { run_id: asks })
      await eventually(async () => (await runs.queued('main', 1)).length === 0, 'it has left the queue')
      expect(await holders(open)).toEqual([other])
    })

    test('goes on while starts are on hold', daily, async () => {
      const runs = await opened({ max_runs: 1 })
      const asks = await started(WAITS)
      await resting(asks)
      const other = await started(HOLDS)
      await yes(asks)
      await resting(asks, true)
      await runs.holdStarts('main', { by: 'user:ana', at: new Date().toISOString() })
      await post(open, 'stop-run', { run_id: other })
      expect((await open.ended(asks)).at(-1)?.type).toBe('run:completed')
    })

    test('a repeated start of it takes no place', daily, async () => {
      await opened({ max_runs: 1 })
      const once = () => startOf(open, WAITS, {}, { 'idempotency-key': 'k' })
      const asks = String((await once()).json.run_id)
      await resting(asks)
      expect((await once()).json.run_id).toBe(asks)
      expect(await holders(open)).toEqual([])
    })
  })

  describe(`a run that waits for an event or a time, on ${store}`, () => {
    const waits = (wait: object) => ({ name: 'waits-long', blocks: [{ id: 'stay', mode: 'wait', wait }] })

    test('holds no place, and goes on by what it waits for', daily, async () => {
      await opened({ max_runs: 1 })
      const [first, second] = [await started(waits({ event: { name: 'go' }, timeout: '1d' })), undefined]
      await resting(first)
      await noHolders(open)
      expect(second).toBeUndefined()
      await post(open, 'send-event', { body: { name: 'go', id: 'e1' } })
      expect((await open.ended(first)).at(-1)?.type).toBe('run:completed')
      await noHolders(open)
    })

    test('keeps its place where that is less than five minutes', daily, async () => {
      await opened({ max_runs: 1 })
      const stays = await started(waits({ for: '4m' }))
      await open.until(stays, ({ type }) => type === 'block:waiting')
      expect([await rests(stays), await holders(open)]).toEqual([false, [stays]])
    })
  })
}
