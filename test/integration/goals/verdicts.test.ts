import { afterEach, beforeEach, expect, test } from 'vitest'
import { handler as decideHandler } from '../../../functions/goals/decide-completion.ts'
import { stopRun } from '../../../functions/runs/stop.ts'
import { localPrincipal } from '../../../infra/local/login.ts'
import { principalName } from '../../../shared/auth/principal.ts'
import { SCOPES } from '../../../shared/auth/scopes.ts'
import { runIdOfIdempotencyKey } from '../../../shared/runs/ids.ts'
import { goalOf } from '../pivots/pivot-place.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'
import { ACCURACY, contractOf, judge, judgedDag, judgedRun, QUIET } from './goal-place.ts'

let open: TestPlace
beforeEach(async () => {
  open = await openTestPlace(QUIET)
})
afterEach(() => open.close())

const HIGH = { said: '[METRIC:accuracy] 0.95' }

test.each([
  ['beside its score', { trust_score: 95, blockers: ['the data is private'] }, 'BLOCKED'],
  ['as one of many', [{ trust_score: 95 }, { trust_score: 95, blockers: ['the data is private'] }], 'BLOCKED'],
  ['and names none', { trust_score: 95, blockers: [] }, 'SUCCESS'],
  ['and says nothing of it', { trust_score: 95, blockers: null }, 'SUCCESS'],
])('a verifier that says what blocks the goal, %s', async (_, score, status) => {
  const { end, evaluation } = await judge(open, judgedDag(contractOf(ACCURACY)), { inputs: { ...HIGH, score } })
  expect(end.data.final_status).toBe(status)
  if (status === 'BLOCKED') expect(evaluation?.goal.blockers).toEqual(['the data is private'])
})

/**
 * Two reviews of one piece of work send it back each by a rule of its own: that of the first is made again alone, and
 * `verify`, `claim` and `check` have said what they think of the work that is no more.
 */
const TWICE = {
  completion: { trust: { from: 'verify.score' }, claim: 'claim.status' },
  goal_contract: contractOf(ACCURACY),
  blocks: [
    ai('work'),
    ai('review', { inputs: { text: { from: 'work.text' } }, ...sentBack() }),
    ai('verify', { inputs: { text: { from: 'work.text' } }, outputs: { score: 'json' } }),
    ai('claim', { inputs: { text: { from: 'work.text' } }, outputs: { status: 'string' } }),
    ai('check', { depends: 'verify.succeeded && claim.succeeded && work.succeeded', ...sentBack() }),
  ],
}

test('a verifier that saw only what was sent back after it trusts nothing, and a claim of it claims nothing', async () => {
  let works = 0
  const checked = Promise.withResolvers<void>()
  const says: Readonly<Record<string, () => Promise<string> | string>> = {
    work: () => {
      works += 1
      return `[METRIC:accuracy] 0.9${works}`
    },
    review: () => (works === 1 ? checked.promise.then(() => 'bad') : 'good'),
    verify: () => JSON.stringify({ score: works === 1 ? 95 : 10 }),
    claim: () => JSON.stringify({ status: 'SUCCESS' }),
    check: () => 'good',
  }
  await open.reopen({
    ...QUIET,
    providers: { probe: provider(({ prompt }) => says[/^\w+/.exec(prompt)?.[0] ?? '']?.() ?? '') },
  })
  const run_id = await open.start(TWICE)
  await open.until(run_id, ({ type, block_id }) => type === 'block:completed' && block_id === 'check')
  checked.resolve()
  const { evaluation, end, events } = await judgedRun(open, run_id)
  expect(works).toBe(2)
  expect(events.filter(({ type, block_id }) => type === 'block:started' && block_id === 'verify')).toHaveLength(1)
  expect(evaluation?.completion.criteria[0]).toMatchObject({ status: 'MET', actual: 0.92 })
  expect(evaluation?.trust).toMatchObject({ score: null, passed: false })
  expect(evaluation?.request.claimed_status).toBe('')
  expect(end.data).toMatchObject({ final_status: 'PARTIAL', row: 'FAIL x MET' })
})

test('a run that was judged and then stopped is shown as it ended, not as it was judged', async () => {
  const { runs } = open.place.world
  const real = runs.goalAttempts.bind(runs)
  const waiting = Promise.withResolvers<void>()
  const dead = Promise.withResolvers<never>()
  dead.promise.catch(() => undefined)
  const machine = () => {
    waiting.resolve()
    return dead.promise
  }
  Object.assign(runs, { goalAttempts: machine })
  const run_id = await open.start(judgedDag(contractOf(ACCURACY)), { inputs: HIGH })
  await waiting.promise
  Object.assign(runs, { goalAttempts: real })
  const { world } = open.place
  const given = { in: { v: 1, tenant: 'main', run_id } }
  await decideHandler(given, { world, signal: new AbortController().signal } as never)
  const judged = { row: 'PASS x MET', metCount: 1 }
  expect(await goalOf(open, run_id)).toMatchObject({ ...judged, final_status: null, lastGoalAttempt: null })
  await open.call('stop-run', run_id, {})
  expect(await goalOf(open, run_id)).toMatchObject({
    ...{ ...judged, state: 'cancelled', final_status: 'ABORTED' },
    lastGoalAttempt: { run_id, status: 'ABORTED' },
    pivot: { shouldPivot: false },
  })
  // The end of the place waits for who hangs.
  dead.reject(new Error('it is over'))
})

test('a stop that is faster than the start it is meant for stops nothing by half (simulated seed 3008845)', async () => {
  const { world } = open.place
  const run = {
    tenant: 'main',
    run_id: runIdOfIdempotencyKey('main', principalName(localPrincipal()), 'POST /api/dag/run', 'late'),
  }
  let started = false
  /** The run comes into being right behind the first look at it. */
  const first =
    <A extends readonly unknown[], T>(read: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      const seen = await read.apply(world.runs, given as never)
      if (!started) {
        started = true
        await open.start(judgedDag(contractOf(ACCURACY)), { inputs: HIGH }, { 'idempotency-key': 'late' })
      }
      return seen
    }
  const runs = Object.assign(Object.create(world.runs), { head: first(world.runs.head), meta: first(world.runs.meta) })
  const ana = { kind: 'user', id: 'ana', tenant: 'main', scopes: SCOPES } as const
  await expect(stopRun({ ...world, runs }, run, ana)).rejects.toMatchObject({ code: 'unknown_run' })
  await open.until(run.run_id, ({ type }) => type === 'run:completed')
})

function ai(id: string, more: object = {}): object {
  return { id, agent: { provider: 'probe', model: 'm', prompt: id }, outputs: { text: 'string' }, ...more }
}

function sentBack(): object {
  const gate = { name: 'good', check: { type: 'contains', port: 'text', values: ['good'] }, on_fail: 'route' }
  return { post_gates: [gate], on_gate_fail: [{ when_gate: 'good', route_to: 'work', max_bounces: 1 }] }
}
