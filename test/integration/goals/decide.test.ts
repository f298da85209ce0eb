import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { handler as decideHandler } from '../../../functions/goals/decide-completion.ts'
import { handler as settleHandler } from '../../../functions/runs/settle.ts'
import { Fault } from '../../../shared/errors.ts'
import type { World } from '../../../shared/world.ts'
import { EACH } from '../../how-much.ts'
import type { TestPlace } from '../test-place.ts'
import { ACCURACY, contractOf, judge, judgedDag, judgedRun, openGoalPlace } from './goal-place.ts'

let open: TestPlace
/** `_decide_completion` of the machine waits here, for ever; tests call the function themselves. */
let held: Set<string>
beforeAll(async () => {
  open = await openGoalPlace()
  held = new Set()
})
// Machines that wait for ever are waited for: once.
afterAll(() => open.close())

type Port = Record<string, (...args: unknown[]) => Promise<unknown>>
const PORTS = ['runs', 'objects'] as const

/** The place's World, where the n-th call of a port that decides fails: before it is made, or after. */
function failingAt(n: number, when: 'before' | 'after'): { world: World; calls: () => number } {
  let calls = 0
  const down = () => new Fault('Unavailable', 'down', 'Cannot reach it: it is down.')
  const port = (real: object) =>
    new Proxy(real, {
      get:
        (target, name) =>
        async (...args: unknown[]) => {
          calls += 1
          const mine = calls
          if (mine === n && when === 'before') throw down()
          const answer = await (target as Port)[String(name)]?.(...args)
          if (mine === n) throw down()
          return answer
        },
    })
  const { world } = open.place
  const failing = Object.fromEntries(PORTS.map((name) => [name, port(world[name])]))
  return { world: { ...world, ...failing }, calls: () => calls }
}

const signal = new AbortController().signal
const call = (handler: typeof decideHandler, run_id: string, world: World) =>
  handler({ in: { v: 1, tenant: 'main', run_id } }, { world, signal } as never)
const decide = (run_id: string, world: World = open.place.world) => call(decideHandler, run_id, world)
const settle = (run_id: string, world: World = open.place.world) => call(settleHandler, run_id, world)

/** A run whose blocks have ended and that nobody has decided about. */
async function undecided(more: object = {}): Promise<string> {
  const { runs } = open.place.world
  const real = runs.goalAttempts.bind(runs)
  const waiting = Promise.withResolvers<void>()
  // Only the machine comes this way: tests bring a World with the real one.
  Object.assign(runs, {
    goalAttempts: (tenant: string, root: string) => {
      waiting.resolve()
      return held.has(root) ? real(tenant, root) : new Promise(() => undefined)
    },
  })
  const dag = judgedDag({ ...contractOf(ACCURACY), max_goal_attempts: 10 })
  const run_id = await open.start(dag, { inputs: { said: '[METRIC:accuracy] 0.75' }, ...more })
  await waiting.promise
  held.add(run_id)
  return run_id
}

const attemptsOf = (root: string) => open.place.world.runs.goalAttempts('main', root)
const decisionsOf = async (run_id: string) =>
  (await open.events(run_id)).filter(({ type }) => type === 'goal:evaluated')

describe('decide-completion', () => {
  test.each(['before', 'after'] as const)(
    'that dies %s any call decides once when it comes again',
    async (when) => {
      const first = await undecided()
      const counted = failingAt(0, 'before')
      await decide(first, counted.world)
      const calls = counted.calls()
      expect(calls).toBeGreaterThan(8)
      for (let n = 1; n <= calls; n += EACH) {
        const run_id = await undecided()
        await expect(decide(run_id, failingAt(n, when).world)).rejects.toThrow()
        await decide(run_id)
        await decide(run_id)
        expect(await settle(run_id)).toMatchObject({ end: 'partial' })
        const [decided, ...more] = await decisionsOf(run_id)
        expect([n, more]).toEqual([n, []])
        expect(decided?.data).toMatchObject({ status: 'NOT_MET', attempt: 1, met: 0, total: 1 })
        expect((await attemptsOf(run_id)).map(({ n: number, run_id: of }) => [number, of])).toEqual([[1, run_id]])
      }
    },
    60_000,
  )

  test('called by many at once decides once', async () => {
    const run_id = await undecided()
    await Promise.all(Array.from({ length: 8 }, () => decide(run_id)))
    expect(await decisionsOf(run_id)).toHaveLength(1)
    expect(await attemptsOf(run_id)).toHaveLength(1)
  })

  test('gives runs of one lineage that end together a number each', async () => {
    const first = await undecided()
    await decide(first)
    await settle(first)
    const retries = await Promise.all(
      [1, 2, 3].map(async () => String((await open.call('retry-run', first, {})).json.run_id)),
    )
    const ended = await Promise.all(retries.map((id) => judgedRun(open, id)))
    const numbers = ended.map(({ evaluated }) => evaluated?.data.attempt)
    expect(numbers.toSorted()).toEqual([2, 3, 4])
    expect((await attemptsOf(first)).map(({ n }) => n)).toEqual([1, 2, 3, 4])
    // The same approach again and again proves nothing about what can be reached.
    expect(ended.map(({ end }) => end.type)).toEqual(['run:partial', 'run:partial', 'run:partial'])
  })

  test('says nothing of a run that was stopped meanwhile, nor of one that has no goal', async () => {
    const run_id = await undecided()
    await open.call('stop-run', run_id, {})
    expect(await decide(run_id)).toEqual({})
    expect(await decisionsOf(run_id)).toEqual([])
    const { completion: _, ...plain } = judgedDag() as { completion: object }
    const { run_id: other } = await judge(open, plain, { inputs: { said: 'x' } })
    expect(await decide(other)).toEqual({})
    expect(await decisionsOf(other)).toEqual([])
  })
})

describe('_settle', () => {
  test('asks for a decision as long as there is none, and ends as that says', async () => {
    const run_id = await undecided()
    expect(await settle(run_id)).toEqual({ end: 'decide' })
    await decide(run_id)
    expect(await settle(run_id)).toEqual({ end: 'partial', code: 'goal_missed' })
    expect(await settle(run_id)).toMatchObject({ end: 'partial' })
    expect((await open.events(run_id)).filter(({ type }) => type.startsWith('run:')).map(({ type }) => type)).toEqual([
      'run:started',
      'run:partial',
    ])
  })

  test.each(['before', 'after'] as const)(
    'that dies %s any call ends the run once when it comes again',
    async (when) => {
      const first = await undecided()
      await decide(first)
      const counted = failingAt(0, 'before')
      await settle(first, counted.world)
      for (let n = 1; n <= counted.calls(); n += EACH) {
        const run_id = await undecided()
        await decide(run_id)
        await settle(run_id, failingAt(n, when).world).catch(() => undefined)
        expect(await settle(run_id)).toMatchObject({ end: 'partial' })
        const ends = (await open.events(run_id)).filter(({ type }) => type === 'run:partial')
        expect([n, ends.length]).toEqual([n, 1])
      }
    },
    60_000,
  )
})

describe('a gate that crashes', () => {
  test('has failed: the run is PARTIAL with a warning, never SUCCESS', async () => {
    // A contract no parser would let in, where the frozen one was: the goal gate finds no criteria to read.
    const run_id = await undecided()
    const { world } = open.place
    const objects = {
      ...world.objects,
      get: async (tenant: string, ref: string) => {
        const body = await world.objects.get(tenant, ref)
        const text = Buffer.from(body).toString()
        return text.includes('acceptance_criteria') && !text.includes('blocks') ? Buffer.from('{"goal_text": 5}') : body
      },
    }
    await decide(run_id, { ...world, objects } as World)
    await settle(run_id)
    const { end, evaluation } = await judgedRun(open, run_id)
    expect(end.type).toBe('run:partial')
    expect(evaluation?.completion.warnings.map(({ code }) => code)).toContain('GOAL_CONTRACT_INVALID')
  })
})
