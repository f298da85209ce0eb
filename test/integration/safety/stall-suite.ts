import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WHOLE } from '../../how-much.ts'
import { block, child, childOf, deployDocument, headOf, retry } from '../child-place.ts'
import { fastClock } from '../fast-clock.ts'
import type { TestPlace } from '../test-place.ts'
import { dailyOnSqlite, noHolders, type OpenSafe, QUICK, startOf, stateOf, WAITS } from './safety-place.ts'

/** A minute, which stall_sec is here, is 600 ms of this process's own time. */
const TIMES = 100
const STALL = 60
/** What takes longer than that, in minutes. */
const LONG = WHOLE ? 4 : 2

/** The stall watchdog, on one kind of store. */
export function stallSuite(store: string, openSafe: OpenSafe): void {
  let open: TestPlace
  const minutes = (n: number) => open.place.world.clock.delay(n * 60_000)
  const opened = async (sweep_ms = 20) => {
    open = await openSafe({ stall_sec: STALL }, { sweep_ms, clock: fastClock(TIMES) })
    return open.place.world
  }
  const started = async (...blocks: readonly object[]) => {
    const { json } = await startOf(open, { name: 'stalls', blocks })
    return String(json.run_id)
  }
  /** Executions that say they run, while nobody calls a function for them. */
  const loseInvocations = () => {
    const { world } = open.place
    const lost = { start: async () => 'started', describe: async () => ({ status: 'RUNNING' }) }
    Object.assign(world, { machine: { ...world.machine, ...lost } })
  }

  describe(`the stall watchdog, on ${store},`, dailyOnSqlite(store), () => {
    // Code that is loaded at its first call takes minutes of this time.
    beforeAll(async () => {
      open = await openSafe({})
      deployDocument(open, 'inner', QUICK.blocks)
      for (const dag of [WAITS, { name: 'outer', blocks: [child('sub', 'inner')] }]) {
        const { json } = await startOf(open, dag)
        await open.until(String(json.run_id), ({ type }) => type === 'approval:requested' || type === 'run:completed')
      }
      await open.close()
    })
    afterEach(() => open.close())

    test('cancels a run whose functions are never called, naming the block, and frees its place', async () => {
      await opened()
      loseInvocations()
      const run_id = await started(block('first'), block('second', { inputs: { text: { from: 'first.text' } } }))
      const last = (await open.ended(run_id)).at(-1)
      const reason = 'no event for 60 s (stall_sec), and nothing it waits for: block "first" was to go on'
      expect(last).toMatchObject({ type: 'run:cancelled', data: { code: 'stall_timeout_exceeded', reason } })
      await noHolders(open)
    })

    test('lets people take their time', async () => {
      await opened()
      const { json } = await startOf(open, WAITS)
      await open.until(String(json.run_id), ({ type }) => type === 'approval:requested')
      await minutes(LONG)
      expect(await stateOf(open, String(json.run_id))).toBe('paused_approval')
    })

    test('lets a dispatch take its time, and a retry wait', async () => {
      await opened()
      const slow = { agent: { provider: 'probe', model: 'm', prompt: `slow ${LONG * 60_000}` }, timeout_ms: 600_000 }
      const again = { ...retry(2), delay_ms: LONG * 60_000, max_delay_ms: LONG * 60_000 }
      const fails = { agent: { provider: 'probe', model: 'm', prompt: 'fail' }, retry: again }
      const events = await open.ended(await started(block('slow', slow), block('fails', fails)))
      expect(events.at(-1)?.type).toBe('run:completed')
      expect(events.filter(({ type }) => type === 'block:retrying')).toHaveLength(1)
    })

    test('lets a child run take its time', async () => {
      await opened()
      deployDocument(open, 'inner', WAITS.blocks)
      const run_id = await started(child('sub', 'inner', { outputs: {} }))
      const inner = await childOf(open, run_id, 'sub')
      await open.until(inner, ({ type }) => type === 'approval:requested')
      await minutes(LONG)
      expect([await stateOf(open, run_id), await stateOf(open, inner)]).toEqual(['running', 'paused_approval'])
    })

    test('gives a place that was away the same time again', async () => {
      const world = await opened(0)
      const { clock } = world
      // Nobody is at work meanwhile: such minutes need not be waited for.
      const forward = (n: number) => {
        const { now } = clock
        Object.assign(clock, { now: () => now() + n * 60_000 })
      }
      loseInvocations()
      const run_id = await started(block('first'))
      forward(10)
      await open.place.invoke('sweep', {})
      expect(await stateOf(open, run_id)).toBe('running')
      const left = Date.parse((await headOf(open, run_id)).check_at ?? '') - world.clock.now()
      expect(left).toBeGreaterThan(30_000)
      expect(left).toBeLessThanOrEqual(STALL * 1_000)
      forward(1.1)
      await open.place.invoke('sweep', {})
      expect(await stateOf(open, run_id)).toBe('cancelled')
    })
  })
}
