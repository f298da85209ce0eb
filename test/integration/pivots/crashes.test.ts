import { afterEach, expect, test } from 'vitest'
import { localPrincipal } from '../../../infra/local/login.ts'
import { principalName } from '../../../shared/auth/principal.ts'
import { Fault } from '../../../shared/errors.ts'
import type { NewEvent } from '../../../shared/runs/event.ts'
import { runIdOfIdempotencyKey } from '../../../shared/runs/ids.ts'
import { WHOLE } from '../../how-much.ts'
import { judge, QUIET } from '../goals/goal-place.ts'
import { createHastyClock } from '../hasty-clock.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'
import { endOf, keyOf, LOW, missingDag, nextOf, problemsOf } from './pivot-place.ts'

let open: TestPlace | undefined
const time = createHastyClock()
afterEach(async () => {
  time.rest()
  await open?.close()
  open = undefined
})

async function openPlace(): Promise<TestPlace> {
  open = await openTestPlace({ ...QUIET, clock: time.clock })
  time.hurry()
  return open
}

/** The nth call of a port about one run, or the one that tries its goal again, fails: not made, or made and not answered. */
interface Plan {
  readonly n: number
  readonly when: 'before' | 'after'
  readonly run_id: string
  /** Calls until then; 0 = it failed. */
  left: number
  /** They are counted. */
  armed: boolean
}

const low = { inputs: { said: LOW } }
const TWICE = { max_goal_attempts: 2 }

/** Of each n both ways; of every sixth in npm test. */
function plansOf(calls: number): readonly Pick<Plan, 'n' | 'when'>[] {
  const all = Array.from({ length: 2 * calls }, (_, i) => {
    return { n: (i >> 1) + 1, when: i % 2 === 0 ? 'before' : 'after' } as const
  })
  return all.filter(({ n }) => WHOLE || n % 6 === 1)
}

test('whichever call fails while a person pivots, asking again gives the one next run, which goes its way', {
  tags: ['thorough'],
  timeout: 120_000,
}, async () => {
  const place = await openPlace()
  const plans: Plan[] = []
  failAsPlanned(place, plans)
  /** More than a pivot makes before it answers. */
  const runs = await Promise.all(
    plansOf(30).map(async (plan) => ({ ...plan, run_id: (await judge(place, missingDag('manual'), low)).run_id })),
  )
  for (const { n, when, run_id } of runs) {
    const plan = { n, when, run_id, left: n, armed: true }
    plans.push(plan)
    const first = await place.call('pivot-run', run_id, { feedback: 'again' })
    expect([200, 201, 503]).toContain(first.status)
    const again = await place.call('pivot-run', run_id, { feedback: 'again' })
    // What was planned for later calls is for the second asking, or for the run itself.
    const last = again.status === 503 ? await place.call('pivot-run', run_id, { feedback: 'again' }) : again
    expect([n, when, last.status < 300, last.json.run_id]).toEqual([n, when, true, nextOf(run_id)])
  }
  expect(plans.filter(({ left }) => left === 0).length).toBeGreaterThan(runs.length / 2)
  // From here on it is the test that asks.
  plans.length = 0
  for (const { run_id, n, when } of runs) {
    expect([n, when, endOf(await place.ended(nextOf(run_id))).type]).toEqual([n, when, 'run:partial'])
    const lineage = await place.place.world.runs.lineage('main', run_id)
    expect(lineage.map(({ run_id: id, kind }) => [id, kind])).toEqual([[nextOf(run_id), 'pivot']])
  }
  const listed = await place.place.world.runs.list('main', { limit: 500 })
  expect(listed.runs).toHaveLength(2 * runs.length)
})

test('whichever call fails while a run is judged, ends and is tried again by itself: one next run, attempts 1 and 2', async () => {
  const place = await openPlace()
  const plans: Plan[] = []
  failAsPlanned(place, plans)
  const runs: Plan[] = []
  const all = plansOf(60)
  // Twenty at a time: each has its patience.
  for (let from = 0; from < all.length; from += 20) {
    const begun = all.slice(from, from + 20).map(async ({ n, when }) => {
      const key = `${n}|${when}`
      const run_id = runIdOfIdempotencyKey('main', principalName(localPrincipal()), 'POST /api/dag/run', key)
      const plan: Plan = { n, when, run_id, left: n, armed: false }
      plans.push(plan)
      expect(await place.start(missingDag('auto', TWICE), { ...low }, { 'idempotency-key': key })).toBe(run_id)
      return plan
    })
    const some = await Promise.all(begun)
    for (const { run_id } of some) {
      await place.ended(run_id)
      await place.ended(nextOf(run_id))
    }
    runs.push(...some)
  }
  expect(runs.filter(({ left }) => left === 0).length).toBeGreaterThan((runs.length * 5) / 6)
  // From here on it is the test that asks: what a run made too few calls for is not its to get.
  plans.length = 0
  for (const { run_id, n, when } of runs) {
    expect([n, when, endOf(await place.ended(run_id))]).toMatchObject([
      n,
      when,
      { type: 'run:partial', next_run: nextOf(run_id) },
    ])
    expect([n, when, endOf(await place.ended(nextOf(run_id))).type]).toEqual([n, when, 'run:blocked'])
    const attempts = await place.place.world.runs.goalAttempts('main', run_id)
    expect(attempts.map((one) => [one.n, one.run_id])).toEqual([[1, run_id]])
    expect((await place.place.world.runs.lineage('main', run_id)).map(({ run_id: id }) => id)).toEqual([nextOf(run_id)])
  }
  const listed = await place.place.world.runs.list('main', { limit: 500 })
  expect(listed.runs).toHaveLength(2 * runs.length)
  for (const { run_id } of runs.slice(0, 10)) expect(await problemsOf(place, run_id)).toEqual([])
}, 120_000)

test('objects that are away now and then change nothing of it', { tags: ['thorough'], timeout: 120_000 }, async () => {
  // By its own clock: a machine that tries again in its own time would look stalled by a faster one.
  open = await openTestPlace(QUIET)
  const place = open
  failOfJudgements(place)
  const started = await Promise.allSettled(
    Array.from({ length: 12 }, () => place.start(missingDag('auto', TWICE), low)),
  )
  const ids = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  expect(ids.length).toBeGreaterThan(3)
  for (const run_id of ids) {
    expect(endOf(await place.ended(run_id))).toMatchObject({ type: 'run:partial', next_run: nextOf(run_id) })
    expect(endOf(await place.ended(nextOf(run_id))).type).toBe('run:blocked')
    expect(await place.place.world.runs.head(keyOf(nextOf(run_id)))).toMatchObject({ state: 'blocked' })
  }
})

/** Events are what the test itself reads. */
function failAsPlanned({ place }: TestPlace, plans: readonly Plan[]): void {
  for (const port of [place.world.runs, place.world.outbox]) {
    for (const [name, method] of Object.entries(port)) {
      if (typeof method !== 'function' || name === 'events') continue
      const call = method.bind(port) as (...given: readonly unknown[]) => Promise<unknown>
      const faulty = async (...given: readonly unknown[]) => {
        const when = strike(plans, given)
        if (when === 'before') throw away(name)
        const answer = await call(...given)
        if (when === 'after') throw away(name)
        arm(plans, given)
        return answer
      }
      Object.assign(port, { [name]: faulty })
    }
  }
}

/** Of contracts, evaluations and feedback of the first 80 calls every 11th is not made, every 17th not answered. */
function failOfJudgements({ place }: TestPlace): void {
  const { objects } = place.world
  const [get, put] = [objects.get.bind(objects), objects.put.bind(objects)]
  const refs = new Set<string>()
  let calls = 0
  const faulty = async <T>(isMeant: boolean, call: () => Promise<T>): Promise<T> => {
    calls += Number(isMeant)
    const n = isMeant && calls < 80 ? calls : 1
    if (n % 11 === 0) throw away('objects')
    const answer = await call()
    if (n % 17 === 0) throw away('objects')
    return answer
  }
  const isOurs = (bytes: Uint8Array) =>
    /goal_status|did not reach the goal|goal_text/.test(Buffer.from(bytes).toString())
  Object.assign(objects, {
    get: (tenant: string, ref: string) => faulty(refs.has(ref), () => get(tenant, ref)),
    put: (tenant: string, bytes: Uint8Array) =>
      faulty(isOurs(bytes), async () => {
        const stored = await put(tenant, bytes)
        if (isOurs(bytes)) refs.add(stored.ref)
        return stored
      }),
  })
}

/** Before its last block has ended, a call that fails may fail a block: that is not what is looked at here. */
function arm(plans: readonly Plan[], [given]: readonly unknown[]): void {
  const sleeping = plans.filter(({ armed }) => !armed)
  if (sleeping.length === 0) return
  const { run, events } = given as { readonly run?: { readonly run_id: string }; readonly events?: readonly NewEvent[] }
  if (!events?.some(({ type, block_id }) => type === 'block:completed' && block_id === 'verify')) return
  for (const plan of sleeping) if (plan.run_id === run?.run_id) plan.armed = true
}

function strike(plans: readonly Plan[], given: readonly unknown[]): Plan['when'] | undefined {
  const open = plans.filter(({ left, armed }) => armed && left > 0)
  const text = open.length === 0 ? '' : JSON.stringify(given)
  const plan = open.find(({ run_id }) => [run_id, nextOf(run_id)].some((id) => text.includes(id)))
  if (plan !== undefined) plan.left -= 1
  return plan?.left === 0 ? plan.when : undefined
}

function away(name: string): Fault {
  return new Fault('Unavailable', 'store_busy', `the store is away (${name})`)
}
