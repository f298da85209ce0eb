import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allEvents, hashOfLog, readLog } from '../../functions/record/run-log.ts'
import { readStoredRun } from '../../functions/record/stored-run.ts'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import { openDatabase } from '../../infra/local/database.ts'
import { openRunStore } from '../../infra/local/run-store/run-store.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { checkRun } from '../../shared/invariants/check-run.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import { hashAfter } from '../../shared/runs/hash-chain.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { keyOf, newRun, ready, step } from '../conformance/run-store-fixture.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** A store in memory that counts the events it is asked for, and the turns its readers give to others. */
function openCounted() {
  const db = openDatabase(':memory:')
  const runs = openRunStore(db)
  const counted = { events: 0, turns: 0 }
  const counting: typeof runs = {
    ...runs,
    async events(...asked) {
      const found = await runs.events(...asked)
      counted.events += found.length
      return found
    },
  }
  const turn = async () => {
    counted.turns += 1
    await systemClock.turn?.()
  }
  const world = { runs: counting, clock: { ...systemClock, turn } }
  /** What was asked for since the last look. */
  const since = () => {
    const seen = { ...counted }
    counted.events = counted.turns = 0
    return seen
  }
  return { world, since, close: () => db.close(), add }

  /** Adds `count` events to run `n`, which is made when it is not there. */
  async function add(n: number, count: number, lane: number): Promise<RunKey> {
    const run = newRun(n)
    const key = keyOf(run.meta)
    await runs.create(run)
    for (let left = count, block = lane; left > 0; left -= 20, block += 1) {
      const events = Array.from({ length: Math.min(left, 20) }, (_, i) => ready(`b${block}-${i}`))
      expect(await runs.append(step(key, String(block), 1_010, { events }))).toMatchObject({ ok: true })
    }
    return key
  }
}

describe('readLog()', () => {
  test('reads and folds only what is new of a long log, and answers as if it had read all', async () => {
    const { world, since, close, add } = openCounted()
    const run = await add(1, 2_499, 0)
    const first = await readLog(world, run)
    expect(since()).toEqual({ events: 2_500, turns: 3 })
    expect(first).toEqual({ events: await world.runs.events(run, 0, 5_000), fold: foldRun(first.events) })
    since()
    expect(await readLog(world, run)).toBe(first)
    expect(since()).toEqual({ events: 0, turns: 0 })
    await add(1, 7, 500)
    const later = await readLog(world, run)
    expect(since()).toEqual({ events: 7, turns: 0 })
    expect(later.events).toHaveLength(2_507)
    expect(later.fold).toEqual(foldRun(later.events))
    expect(first.events).toHaveLength(2_500)
    close()
  })

  test('keeps no short log, and of long ones those read last, 20,000 events of them', async () => {
    const { world, since, close, add } = openCounted()
    const short = await add(1, 20, 0)
    await readLog(world, short)
    since()
    await readLog(world, short)
    expect(since().events).toBe(21)
    const long = [await add(2, 8_999, 0), await add(3, 8_999, 0), await add(4, 8_999, 0)] as const
    for (const run of long) await readLog(world, run)
    since()
    await readLog(world, long[2])
    await readLog(world, long[1])
    expect(since().events).toBe(0)
    await readLog(world, long[0])
    expect(since().events).toBe(9_000)
    close()
  })

  test('what waits for the thread has it while a long log is read, and while it is hashed', async () => {
    const { world, close, add } = openCounted()
    const run = await add(1, 2_499, 0)
    let others = 0
    let isOver = false
    const work = () => {
      others += 1
      if (!isOver) setImmediate(work)
    }
    setImmediate(work)
    const events = await allEvents(world, run)
    expect(others).toBeGreaterThanOrEqual(2)
    const before = others
    expect(await hashOfLog(world, events)).toBe(hashAfter(events))
    isOver = true
    expect(others - before).toBeGreaterThanOrEqual(4)
    expect(await hashOfLog(world, [])).toBe(hashAfter([]))
    close()
  })
})

describe('the requests about a run of 300 blocks', () => {
  let place: TestPlace
  let run: string
  beforeAll(async () => {
    place = await openTestPlace()
    const blocks = Array.from({ length: 300 }, (_, i) => ({
      id: `b${i}`,
      mode: 'deterministic',
      deterministic: { handler: 'pass' },
    }))
    run = await place.start({ name: 'wide', blocks }, { options: { max_parallel: 0 } })
    await place.ended(run)
  })
  afterAll(() => place.close())

  test('read its events once; checking it reads them each time, and believes only those', async () => {
    const { runs } = place.place.world
    const { events } = runs
    let read = 0
    let told = (found: readonly RunEvent[]) => found
    Object.assign(runs, {
      async events(...asked: Parameters<typeof events>) {
        const found = await events(...asked)
        read += found.length
        return told(found)
      },
    })
    const bodies = async () => [await place.call('get-run', run), await place.call('get-run-graph', run)]
    const before = await bodies()
    const all = read
    expect(all).toBeGreaterThan(1_200)
    expect(await bodies()).toEqual(before)
    expect(read).toBe(all)
    expect(await place.call('verify-run', run)).toMatchObject({ json: { ok: true } })
    expect(read).toBe(2 * all)
    // One event says something else now.
    told = (found) => found.map((event) => (event.seq === 700 ? { ...event, at: '2020-01-01T00:00:00.000Z' } : event))
    const checked = await place.call('verify-run', run)
    expect(checked).toMatchObject({ json: { ok: false, seal: { matches: false } } })
    Object.assign(runs, { events })
  })

  test('a check looks at each block a few times, however many there are', async () => {
    const { world } = place.place
    const key = { tenant: 'main', run_id: run }
    const meta = await world.runs.meta(key)
    if (meta === undefined) throw new Error('no META')
    const { stored } = await readStoredRun(world, key, meta)
    let looks = 0
    const blocks = (stored.dag?.blocks ?? []).map((block) => {
      return new Proxy(block, {
        get(target, name) {
          looks += 1
          return Reflect.get(target, name)
        },
      })
    })
    const checked = await checkRun({ ...stored, dag: { ...stored.dag, blocks } as Dag })
    expect(checked.flatMap(({ problems }) => problems)).toEqual([])
    // 90,000 pairs; each of them was looked at.
    expect(looks).toBeLessThan(100 * 300)
  })
})
