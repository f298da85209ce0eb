import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { DECLARED_HEADER } from '../../../shared/auth/declared-client.ts'
import { fillItem, type Item } from '../../../shared/evals/items.ts'
import { type GateResult, pairKey, type ResultLine, type Round } from '../../../shared/evals/round-file.ts'
import { asksWaiver } from '../../../shared/runs/approval.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import type { Json } from '../../../shared/text/json.ts'
import { callApi, callWithRetries, type Target } from '../server/api.ts'
import { ApprovalSchema } from '../server/approval-schema.ts'
import { fetchEvents } from '../server/fetch-run.ts'
import { Refused } from '../terminal/refused.ts'
import type { CheckJudge } from './check-judge.ts'
import { appendLine } from './keep-round.ts'
import type { Plan } from './plan-round.ts'

interface RoundWork {
  readonly target: Target
  readonly plan: Plan
  readonly round: Round
  readonly file: string
  readonly judge: CheckJudge
  readonly concurrency: number
  readonly budget: Plan['evaluation']['budget']
  readonly signal?: AbortSignal
  /** After each result. */
  progress(done: readonly ResultLine[]): void
  /** Why a call waits, or what a person should know. */
  note(words: string): void
}

type Pair = { readonly item: Item; readonly variant: Plan['variants'][number] }

/** What stands behind the workers: pairs that are left, what they use, and whether the budget lets another one begin. */
interface State extends RoundWork {
  readonly left: Pair[]
  readonly results: ResultLine[]
  underWay: number
  isSpent: boolean
}

/**
 * Runs what is left of a round, so many at once, and answers why it ended. Each start has a key made of the round, the item
 * and the variant, so that a start which was asked for before, by a process that died, is the same run. A result is
 * written once its run has ended.
 */
export async function runRound(
  work: RoundWork,
): Promise<{ readonly results: readonly ResultLine[]; readonly why: 'complete' | 'budget' }> {
  const { plan, round } = work
  const done = new Set(round.results.map(({ item, variant }) => pairKey(item, variant)))
  const left = plan.items
    .flatMap((item) => plan.variants.map((variant) => ({ item, variant })))
    .filter(({ item, variant }) => !done.has(pairKey(item.id, variant.name)))
  const state: State = { ...work, left, results: [...round.results], underWay: 0, isSpent: false }
  const stopped = new AbortController()
  const signal = work.signal === undefined ? stopped.signal : AbortSignal.any([work.signal, stopped.signal])
  const workers = Array.from({ length: Math.min(work.concurrency, left.length) }, () => runPairs(state, signal))
  try {
    await Promise.all(workers)
  } catch (error) {
    // The others are told, and what they have under way goes on without them.
    stopped.abort(error)
    await Promise.allSettled(workers)
    throw error
  }
  const why = state.isSpent ? 'budget' : 'complete'
  appendLine(work.file, { type: 'end', at: new Date().toISOString(), why })
  return { results: state.results, why }
}

async function runPairs(state: State, signal: AbortSignal): Promise<void> {
  for (let pair = await nextPair(state, signal); pair !== undefined; pair = await nextPair(state, signal)) {
    state.underWay += 1
    try {
      const result = await runPair(state, pair, signal)
      appendLine(state.file, result)
      state.results.push(result)
    } finally {
      state.underWay -= 1
    }
    state.progress(state.results)
  }
}

/** Waits while what is under way may use the rest of the budget; undefined: nothing is left, or nothing is left to pay with. */
async function nextPair(state: State, signal: AbortSignal): Promise<Pair | undefined> {
  for (;;) {
    signal.throwIfAborted()
    if (state.left.length === 0 || state.isSpent) return undefined
    const room = roomFor(state)
    if (room === 'yes') return state.left.shift()
    if (room === 'never') {
      state.isSpent = true
      return undefined
    }
    await pause(LOOK_MS)
  }
}

const LOOK_MS = 50

/**
 * Each run under way, and the next one, is reckoned with as much as the dearest so far. Before one has ended nothing is known:
 * the first `concurrency` of them begin.
 */
function roomFor({ budget, results, underWay }: State): 'yes' | 'later' | 'never' {
  const rooms = [
    room(
      budget?.usd,
      results.map(({ usd }) => usd ?? 0),
      underWay,
    ),
    room(
      budget?.tokens,
      results.map(({ tokens }) => tokens),
      underWay,
    ),
  ]
  return rooms.includes('never') ? 'never' : rooms.includes('later') ? 'later' : 'yes'
}

function room(cap: number | undefined, used: readonly number[], underWay: number): 'yes' | 'later' | 'never' {
  if (cap === undefined) return 'yes'
  const spent = used.reduce((sum, one) => sum + one, 0)
  const dearest = Math.max(0, ...used)
  if (spent + dearest > cap || (spent >= cap && spent > 0)) return 'never'
  return spent + dearest * (underWay + 1) > cap ? 'later' : 'yes'
}

async function runPair(state: State, pair: Pair, signal: AbortSignal): Promise<ResultLine> {
  const { item, variant } = pair
  const runId = await startedRun(state, pair, signal)
  const runs = await runsToTheEnd(state, runId, signal)
  const last = runs.at(-1)
  if (last === undefined) throw new Refused({ code: 'not_sluice', detail: `Run ${runId} has no end.` })
  const { run } = last
  const events = await patiently(state, signal, () => fetchEvents(state.target, run.run_id))
  const unpriced = sum(runs.map((one) => one.run.unpriced_tokens ?? 0))
  const [begun] = runs
  return {
    type: 'result',
    item: item.id,
    variant: variant.name,
    run_id: run.run_id,
    dag_hash: run.dag_hash,
    state: run.state,
    ...(run.reason !== undefined && { reason: run.reason.slice(0, 500) }),
    gates: gateResults(events),
    expect: await judgeExpected(state, pair, last, signal),
    ...(run.goal !== undefined && {
      goal: { status: run.final_status ?? run.state, met: run.goal.met, total: run.goal.total },
    }),
    tokens: sum(runs.map((one) => one.run.tokens)),
    usd: priceOf(runs),
    ...(unpriced > 0 && { unpriced_tokens: unpriced }),
    latency_ms: between(begun?.run.started_at, run.ended_at),
    attempts: sum(runs.map(({ steps }) => steps.length)),
  }
}

/** null: of none of them a price is known. */
function priceOf(runs: readonly Ended[]): number | null {
  const known = runs.flatMap(({ run }) => run.usd ?? [])
  return known.length === 0 ? null : sum(known)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

function between(start: string | undefined, end: string | undefined): number | null {
  return start === undefined || end === undefined ? null : Date.parse(end) - Date.parse(start)
}

/** The run that was started before, as the file of the round has it, or the place by its key; else a new one. */
async function startedRun(state: State, { item, variant }: Pair, signal: AbortSignal): Promise<string> {
  const { target, round, file } = state
  const known = round.started.get(pairKey(item.id, variant.name))
  if (known !== undefined && (await isThere(state, known, signal))) return known
  const key = sha256(`eval ${round.head.round} ${pairKey(item.id, variant.name)}`)
  const body = variant.bodyFor(item)
  const { run_id } = await patiently(state, signal, () =>
    callApi(target, z.looseObject({ run_id: z.string() }), (api) =>
      api.POST('/api/dag/run', { params: { header: { 'Idempotency-Key': key } }, body, signal }),
    ),
  )
  appendLine(file, { type: 'started', item: item.id, variant: variant.name, run_id })
  return run_id
}

async function isThere(state: State, runId: string, signal: AbortSignal): Promise<boolean> {
  try {
    await fetchEnded(state, runId, signal)
    return true
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return false
    throw error
  }
}

/** A call that may be made twice: limits of the place and short absences are waited for. */
function patiently<T>({ note }: State, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  return callWithRetries(call, { signal, note: (why, ms) => note(`Waits ${Math.ceil(ms / 1_000)} s: ${why}`) })
}

const EndedSchema = z.looseObject({
  run: z.looseObject({
    run_id: z.string(),
    dag_hash: z.string(),
    state: z.string(),
    reason: z.string().optional(),
    final_status: z.string().optional(),
    goal: z.looseObject({ met: z.int(), total: z.int() }).optional(),
    started_at: z.string().optional(),
    ended_at: z.string().optional(),
    next_run: z.string().optional(),
    tokens: z.number(),
    usd: z.number().nullable(),
    unpriced_tokens: z.number().optional(),
  }),
  blocks: z.record(z.string(), z.looseObject({ state: z.string(), child: z.string().optional() })),
  steps: z.array(z.looseObject({})),
  approvals: z.array(ApprovalSchema),
})
type Ended = z.infer<typeof EndedSchema>

function fetchEnded(state: State, run_id: string, signal: AbortSignal): Promise<Ended> {
  return patiently(state, signal, () =>
    callApi(state.target, EndedSchema, (api) =>
      api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } }, signal }),
    ),
  )
}

/** The run when it has ended, and after it those it went on as: another try at its goal. */
async function runsToTheEnd(state: State, runId: string, signal: AbortSignal): Promise<readonly Ended[]> {
  const runs: Ended[] = []
  for (let next: string | undefined = runId; next !== undefined; ) {
    const ended: Ended = await toTheEnd(state, next, signal)
    runs.push(ended)
    next = ended.run.next_run
  }
  return runs
}

const ENDS: ReadonlySet<string> = new Set(['completed', 'partial', 'blocked', 'failed', 'cancelled', 'iterated'])

/** Between two looks: soon at first, since many runs take no longer. */
const SOONEST_MS = 40
const LATEST_MS = 2_000

async function toTheEnd(state: State, runId: string, signal: AbortSignal): Promise<Ended> {
  const answered = new Set<string>()
  for (let wait = SOONEST_MS; ; wait = Math.min(wait * 1.4, LATEST_MS)) {
    const seen = await fetchEnded(state, runId, signal)
    if (ENDS.has(seen.run.state)) return seen
    await answerQuestions(state, { root: runId, seen, answered }, signal)
    await pause(wait, undefined, { signal })
  }
}

interface Questions {
  /** The run that is stopped where nobody answers. */
  readonly root: string
  readonly seen: Ended
  /** Approvals that got our one voice. */
  readonly answered: Set<string>
}

/** What a run or a child of it asks people: approved as the evaluation says, else the run is stopped, and says so. */
async function answerQuestions(state: State, { root, seen, answered }: Questions, signal: AbortSignal): Promise<void> {
  for (const approval of seen.approvals.filter(({ status }) => status === 'pending')) {
    const { approval_id, digest, block_id } = approval
    const mayApprove =
      state.plan.evaluation.decisions === 'approve' && !asksWaiver(approval) && !answered.has(approval_id)
    if (!mayApprove)
      return await stopRun(state, root, `evaluation: block ${block_id} asked a person, and nobody is there`)
    answered.add(approval_id)
    const params = { path: { run_id: seen.run.run_id } }
    const body = { approval_id, digest, decision: 'approve' } as const
    await unlessOver(() =>
      callApi(state.target, z.looseObject({}), (api) =>
        api.POST('/api/dag/runs/{run_id}/approvals', {
          params,
          headers: { [DECLARED_HEADER]: 'cli --yes' },
          body,
          signal,
        }),
      ),
    )
  }
  for (const { child, state: of } of Object.values(seen.blocks)) {
    if (child === undefined || of === 'completed' || of === 'failed') continue
    const inner = await unlessOver(() => fetchEnded(state, child, signal))
    if (inner !== undefined && !ENDS.has(inner.run.state))
      await answerQuestions(state, { root, seen: inner, answered }, signal)
  }
}

async function stopRun({ target }: State, run_id: string, reason: string): Promise<void> {
  await unlessOver(() =>
    callApi(target, z.looseObject({}), (api) =>
      api.POST('/api/dag/runs/{run_id}/stop', { params: { path: { run_id } }, body: { reason } }),
    ),
  )
}

/** It was decided, has ended, or is not there yet: the next look shows it. */
async function unlessOver<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof Refused && (error.status === 409 || error.status === 404)) return undefined
    throw error
  }
}

/** First and last verdict of each gate. Of a block that runs for many items: one that did not pass stands for all. */
function gateResults(events: readonly RunEvent[]): readonly GateResult[] {
  const byItem = new Map<string, Map<number, GateResult>>()
  for (const event of events) {
    if (event.type !== 'block:gate') continue
    const { gate: name, type, status, reason } = event.data
    const gate = `${event.block_id}/${name}`
    const items = byItem.get(gate) ?? new Map<number, GateResult>()
    const before = items.get(event.item ?? -1)
    items.set(event.item ?? -1, {
      gate,
      type,
      first: before?.first ?? status,
      last: status,
      reason: reason.slice(0, 1_000),
    })
    byItem.set(gate, items)
  }
  return [...byItem.values()].flatMap((items) => {
    const all = [...items.values()]
    const shown = all.find(({ last }) => last !== 'passed') ?? all.at(-1)
    if (shown === undefined) return []
    return [{ ...shown, first: all.find(({ first }) => first !== 'passed')?.first ?? 'passed' }]
  })
}

const OutputsSchema = z.looseObject({
  outputs: z.record(
    z.string(),
    z.custom<Json>(() => true),
  ),
})

/** What is expected of an item is held against the outputs of its run. Outputs that are not there pass nothing. */
async function judgeExpected(
  state: State,
  { item }: Pair,
  { run }: Ended,
  signal: AbortSignal,
): Promise<ResultLine['expect']> {
  const expected = [...state.plan.evaluation.expect, ...item.expect]
  const blocks = [...new Set(expected.map(({ block }) => block))]
  const outputs = new Map<string, Readonly<Record<string, Json>>>()
  for (const block_id of blocks) {
    const params = { path: { run_id: run.run_id, block_id } }
    const answer = await unlessOver(() =>
      patiently(state, signal, () =>
        callApi(state.target, OutputsSchema, (api) => api.GET('/api/dag/runs/{run_id}/outputs/{block_id}', { params })),
      ),
    )
    outputs.set(block_id, answer?.outputs ?? {})
  }
  const measured = { cost_usd: run.usd, latency_ms: between(run.started_at, run.ended_at), tokens: run.tokens }
  return await Promise.all(
    expected.map(async ({ name, block, check, error }) => {
      const filled = fillItem(check, item, `the check of ${name}`)
      // No inputs: a column of the item that is called like a port would stand in for an output that is not there.
      const facts = { inputs: {}, outputs: outputs.get(block) ?? {}, measured }
      const { status, reason } = await state.judge.judge({
        check: filled,
        ...facts,
        ...(error !== undefined && { error }),
      })
      return { name, status, reason }
    }),
  )
}
