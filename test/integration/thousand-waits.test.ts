import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { atMost } from '../how-much.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/**
 * A thousand waits at once in the local place, a tenth of them every day: while they wait nothing is called, nothing is
 * written, and no timer is theirs. Time is moved by the test.
 */
const WAITS = atMost(1_000)
const MINUTE = 60_000
const SWEEP_MS = 20

let place: TestPlace
let time: ReturnType<typeof movedClock>

beforeEach(async () => {
  time = movedClock()
  place = await openTestPlace({ clock: time.clock, sweep_ms: SWEEP_MS })
})
afterEach(() => place.close())

/** Real time and what the test adds; keeps the delays that are under way. */
function movedClock() {
  const pending = new Map<AbortController, number>()
  let ahead = 0
  const now = () => Date.now() + ahead
  const delay: Clock['delay'] = async (ms, signal) => {
    const due = now() + ms
    while (now() < due) {
      const turn = new AbortController()
      pending.set(turn, due)
      const signals = AbortSignal.any([turn.signal, ...(signal === undefined ? [] : [signal])])
      await systemClock.delay(due - now(), signals).catch(() => undefined)
      pending.delete(turn)
      signal?.throwIfAborted()
    }
  }
  return {
    clock: { now, delay },
    /** How many delays are under way that are due so much later or more. */
    longer: (ms: number) => [...pending.values()].filter((due) => due >= now() + ms).length,
    move(ms: number) {
      ahead += ms
      for (const turn of pending.keys()) turn.abort()
    },
  }
}

const block = (i: number, wait: object) => ({ id: `w${i}`, mode: 'wait', wait })
const many = (wait: object) => ({ name: 'many', blocks: Array.from({ length: WAITS }, (_, i) => block(i, wait)) })

const waiting = (runId: string) =>
  expect
    .poll(async () => (await place.call('get-run', runId)).json, { timeout: 110_000, interval: 200 })
    .toMatchObject({ run: { state: 'waiting' } })

/** Of the database and its log: whatever is written changes one of them. */
function written(): readonly (readonly [string, number, number])[] {
  const folder = join(place.folder, 'data')
  return readdirSync(folder)
    .filter((name) => name.startsWith('sluice.db') && !name.endsWith('-shm'))
    .map((name) => [name, statSync(join(folder, name)).size, statSync(join(folder, name)).mtimeMs])
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** What is loaded and kept once is no wait's. */
async function warmUp(): Promise<void> {
  const run = await place.start({ name: 'one', blocks: [block(0, { event: { name: 'go.one' } })] })
  await waiting(run)
  await send('go.one')
  await place.ended(run)
}

async function expectNoWrites() {
  // Past what is put away behind a start.
  await pause(1_000)
  const files = written()
  // Sweeps go on all the time, fifty a second.
  await pause(atMost(2_000, 500))
  expect(written()).toEqual(files)
}

function countsOf(events: readonly RunEvent[]) {
  const types = Map.groupBy(events, ({ type }) => type)
  return ['block:waiting', 'block:woken', 'block:completed'].map((type) => types.get(type as RunEvent['type'])?.length)
}

describe(`${WAITS} blocks of one run`, { timeout: 240_000 }, () => {
  test('that wait for one event cost nothing while they wait, and all end by it', async () => {
    await warmUp()
    const before = heapBytes()
    const run = await place.start(many({ event: { name: 'go.many' } }))
    await waiting(run)
    await expectNoWrites()
    // One delay for all of them.
    expect(time.longer(MINUTE)).toBe(1)
    const kept = (heapBytes() - before) / WAITS
    // Measured: 25 KB each of a hundred, 14 KB of a thousand.
    expect(kept).toBeLessThan(40_000)
    const head = await place.place.world.runs.head({ tenant: 'main', run_id: run })
    expect(JSON.stringify(head).length).toBeLessThan(20 * WAITS + 2_000)

    // An hour of looks at it: none of them says anything.
    const { length } = await place.events(run)
    for (let looks = 0; looks < 12; looks += 1) {
      const before = written()
      time.move(5 * MINUTE)
      // A look writes when the next one is due.
      await expect.poll(written, { interval: 20 }).not.toEqual(before)
    }
    expect(await place.events(run)).toHaveLength(length)

    expect(await send('go.many')).toMatchObject({ woken: WAITS, all: true })
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(countsOf(events)).toEqual([WAITS, WAITS, WAITS])
    // ready, started, waiting, woken, output, completed of each; start and end of the run.
    expect(events.length).toBe(6 * WAITS + 2)
  })

  test('that wait for their time end when it comes', async () => {
    const run = await place.start(many({ for: '30d' }))
    await waiting(run)
    await expectNoWrites()
    expect(time.longer(MINUTE)).toBe(1)
    time.move(30 * 24 * 60 * MINUTE - MINUTE)
    await expectNoWrites()
    expect(countsOf(await place.events(run))).toEqual([WAITS, undefined, undefined])
    time.move(MINUTE)
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(countsOf(events)).toEqual([WAITS, WAITS, WAITS])
  })
})

async function send(name: string) {
  const answer = (await place.place.invoke('send-event', event(name))) as { readonly body: string }
  return JSON.parse(answer.body)
}

const event = (name: string) => ({
  httpMethod: 'POST',
  path: '/',
  pathParameters: null,
  queryStringParameters: null,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ name }),
  isBase64Encoded: false,
})
