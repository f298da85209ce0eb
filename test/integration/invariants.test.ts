import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { readStoredRun } from '../../functions/record/stored-run.ts'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import { bounceModules } from '../../shared/dag/bounce-modules.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { checkChain, checkRun as checkStoredRun } from '../../shared/invariants/check-run.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { atMost } from '../how-much.ts'
import { secondFold } from '../unit/runs/second-fold.ts'
import { openFastClock } from './fast-clock.ts'
import { type Calls, flakyProvider, type Life, loseAppends } from './random-faults.ts'
import { chance, type PlannedRun, planRun, type Random, randomFrom, upTo } from './random-runs.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/**
 * Random runs in the real place, with decisions, stops, clean restarts and kills at random moments; then every run must
 * have ended, and its log must hold the invariants (docs/invariants.md). The plan of a seed is always the same, the
 * moments are not quite: repeat one with SLUICE_RUN_SEED=<n> npx vitest run --project integration <this file>.
 */
const SEEDS = atMost(40, 6)
const SPEED = 100
const PATIENCE_MS = 60_000

const { clock, stop: stopClock } = openFastClock(SPEED)
afterAll(stopClock)
const silent = { info: () => undefined, error: () => undefined }

const asked = Number(process.env.SLUICE_RUN_SEED)
const seeds = Number.isInteger(asked) && asked > 0 ? [asked] : Array.from({ length: SEEDS }, (_, i) => i + 1)

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

describe('a run that is disturbed at random', () => {
  test.each(seeds)('ends, and its log holds every invariant: seed %i', async (seed) => {
    const random = randomFrom(seed)
    const calls: Calls = { seen: new Set(), twice: [] }
    const plans = Array.from({ length: 1 + upTo(random, 1) }, () => planRun(random))
    const ids = await disturbedRuns(random, plans, calls)
    for (const [i, plan] of plans.entries()) await checkRun(opened(), plan, ids[i] ?? '')
    expect(calls.twice).toEqual([])
  })
})

function opened(): TestPlace {
  if (open === undefined) throw new Error('no place is open')
  return open
}

/** Starts the runs, disturbs them for a while, then only answers what they ask until all have ended. */
async function disturbedRuns(random: Random, plans: readonly PlannedRun[], calls: Calls): Promise<readonly string[]> {
  const lossy = chance(random, 0.5) ? 0.02 : 0
  const lives = [{ dead: false }]
  const optionsOf = (life: Life) => ({ providers: { probe: flakyProvider(random, calls, life) }, clock, log: silent })
  open = await openTestPlace(optionsOf(last(lives)))
  const place = open
  const ids = await Promise.all(plans.map(({ document, options }) => place.start(document, { options })))
  loseAppends(place.place.world, random, lossy)
  const disturb: Readonly<Record<string, () => Promise<unknown>>> = {
    async kill() {
      last(lives).dead = true
      lives.push({ dead: false })
      await place.kill(optionsOf(last(lives)))
      loseAppends(place.place.world, random, lossy)
    },
    async reopen() {
      await place.reopen(optionsOf(last(lives)))
      loseAppends(place.place.world, random, lossy)
    },
    stop: () => place.call('stop-run', ids[upTo(random, ids.length - 1)] ?? '', {}),
    decide: () => decideOne(place, random, ids),
    repeat: () => repeatOne(place, random, ids),
  }
  const late = Date.now() + PATIENCE_MS
  for (let left = upTo(random, 16); !(await haveEnded(place, ids)); left -= 1) {
    await systemClock.delay(upTo(random, 25))
    await disturb[left > 0 ? pick(random()) : 'decide']?.()
    if (Date.now() > late) throw new Error(await stuckWords(place, ids))
  }
  return ids
}

function pick(dice: number): string {
  if (dice < 0.03) return 'stop'
  if (dice < 0.13) return 'reopen'
  if (dice < 0.33) return 'kill'
  return dice < 0.75 ? 'repeat' : 'decide'
}

function last(lives: readonly Life[]): Life {
  return lives.at(-1) ?? { dead: false }
}

async function haveEnded(place: TestPlace, ids: readonly string[]): Promise<boolean> {
  const heads = await Promise.all(ids.map((id) => headOf(place, id)))
  return heads.every(({ state }) => state !== 'running')
}

/** Decides a question of one of the runs; being late is no mistake (409), anything else is. */
async function decideOne(place: TestPlace, random: Random, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const pending = Object.entries((await headOf(place, id)).approvals).find(([, { status }]) => status === 'pending')
    if (pending === undefined) continue
    const [approval_id, { digest }] = pending
    const decision = chance(random, 0.75) ? 'approve' : 'reject'
    const { status, json } = await place.call('decide-approval', id, { approval_id, decision, digest })
    expect([200, 409, 503], JSON.stringify(json)).toContain(status)
    return
  }
}

/** Delivers the invocation of a block or an exit a second time (as Lambda may), while the first is at work or after it. */
async function repeatOne(place: TestPlace, random: Random, ids: readonly string[]): Promise<void> {
  const run_id = ids[upTo(random, ids.length - 1)] ?? ''
  const events = await place.events(run_id)
  const seen = events.filter(({ type }) => type === 'block:ready' || type === 'block:started')
  const { block_id: block, item, seq = 0 } = seen[upTo(random, Math.max(0, seen.length - 1))] ?? {}
  if (block === undefined) return
  const { json } = await place.call('get-run', run_id)
  const { blocks } = (json as unknown as { readonly dag: { readonly blocks: readonly Block[] } }).dag
  const module = bounceModules(blocks).find((one) => one.blocks.includes(block))
  const passes = events.flatMap((event) => {
    return event.type === 'block:rerouted' && module?.blocks.includes(event.data.to) ? [event] : []
  })
  const e = passes.findLast((event) => event.seq < seq)?.data.epoch ?? 0
  // What they answer or raise is nobody's: the machine waits for the first ones.
  const send = (name: string, payload: object) => {
    void place.place.invoke(name, { in: { v: 1, tenant: 'main', run_id }, ...payload }).catch(() => undefined)
  }
  send('run-block', { block, ...(item === undefined ? {} : { item }), ...(module === undefined ? {} : { e }) })
  // An exit is called when every block of its pass has ended: that pass then was followed by another.
  if (module !== undefined && passes.some(({ data }) => data.epoch > e)) send('close-module', { module: module.key, e })
}

async function headOf(place: TestPlace, run_id: string) {
  const head = await place.place.world.runs.head({ tenant: 'main', run_id })
  if (head === undefined) throw new Error(`no run ${run_id}`)
  return head
}

async function stuckWords(place: TestPlace, ids: readonly string[]): Promise<string> {
  const logs = await Promise.all(ids.map((id) => place.events(id)))
  return `a run does not end:\n${logs.map(wordsOf).join('\n---\n')}`
}

function wordsOf(events: readonly RunEvent[]): string {
  return events
    .map(
      ({ seq, at, type, block_id, attempt, data }) =>
        `${seq} ${at} ${type} ${block_id ?? ''} ${attempt ?? ''} ${JSON.stringify(data).slice(0, 160)}`,
    )
    .join('\n')
}

async function checkRun(test: TestPlace, { blocks }: PlannedRun, run_id: string): Promise<void> {
  const run = { tenant: 'main', run_id }
  const { world } = test.place
  // 16: at rest nothing is owed.
  await expect.poll(async () => (await headOf(test, run_id)).outbox).toEqual([])
  const meta = await world.runs.meta(run)
  if (meta === undefined) throw new Error(`no META of ${run_id}`)
  const before = await headOf(test, run_id)
  // The place's own clock is fast: its two seconds are short.
  await expect.poll(async () => (await world.machine.describe(meta.machine, run_id))?.status).not.toBe('RUNNING')
  const { stored, seal } = await readStoredRun(world, run, meta)
  const { events } = stored
  const checked = [
    checkChain(stored, seal),
    ...(await checkStoredRun({ ...stored, before, max_attempts: world.settings.safety.max_attempts })),
  ]
  const problems = checked.flatMap(({ n, problems }) => problems.map((problem) => `${n}: ${problem}`))
  expect(problems, wordsOf(events)).toEqual([])
  expect(checked.flatMap(({ n, left_out }) => (left_out === undefined ? [] : [n]))).toEqual([])
  if (before.state === 'completed') expect(before.running).toEqual([])
  // 24, then 23: two folds agree, and GET run says what the events say.
  const fold = foldRun(events)
  expect(canonicalJson(secondFold(events))).toBe(canonicalJson(fold))
  const { json } = await test.call('get-run', run_id)
  const states = Object.fromEntries(blocks.map(({ id }) => [id, { state: fold.blocks[id]?.state ?? 'cancelled' }]))
  expect(json).toMatchObject({ run: { state: fold.state, last_seq: events.length }, blocks: states, steps: fold.steps })
}
