import * as z from 'zod'
import type { CompletionSettings, Dag } from '../../shared/dag/dag.ts'
import { blocksBefore } from '../../shared/dag/order.ts'
import { Fault } from '../../shared/errors.ts'
import { type CompletionRequest, evaluateCompletion, type GoalEvaluation } from '../../shared/goals/completion.ts'
import { approachFingerprint, failedAttempt } from '../../shared/goals/pivot.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../shared/runs/lane.ts'
import type { Meta, RunGoal, RunKey, StoredGoalAttempt } from '../../shared/runs/run-store.ts'
import type { Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { frozenContract } from '../record/freeze-goal.ts'
import { MachineInputSchema, type Pinned, readPinned, toRunKey, unavailableIfMissing } from '../record/pinned-run.ts'
import { openCountedStorage } from '../record/storage-quota.ts'
import { type CurrentOutput, currentOutputs, readOutputValues } from './current-outputs.ts'
import { gatherEvidence, type LeftOut } from './evidence.ts'

/** The run is judged once, whoever repeats it. */
const LANE = 'g'
const DECIDED = ordinal({ epoch: 0, attempt: 0, phase: PHASE.completed })

/** Characters of what did not hold: the event has 1 KiB in all, of any script. */
const MOST_REASON = 200

/**
 * `_decide_completion`: judges a run whose blocks have all ended well by its trust, quality and goal gates, and records
 * what they say (goal:evaluated), with everything they were asked. `_settle` then gives the run its verdict from that.
 */
export const handler = functionHandler({
  name: 'decide-completion',
  input: z.strictObject({ in: MachineInputSchema }),
  async run({ in: input }, given) {
    const run = toRunKey(input)
    const { world } = openCountedStorage(given, run)
    const pinned = await readPinned(world, run).catch(unavailableIfMissing(`the document of run "${run.run_id}"`))
    const { meta } = pinned
    const head = await world.runs.head(run, [LANE])
    // `_settle`, which comes next, waits until a paused run goes on.
    if (head?.paused !== undefined) return {}
    if (meta.goal === undefined || head?.state !== 'running' || head.lanes[LANE] !== undefined) return {}
    const asked = await completionRequest(world, run, pinned, meta.goal)
    const evaluation = await judgeAttempt(world, meta, asked)
    const { ref } = await world.objects.put(run.tenant, Buffer.from(JSON.stringify(evaluation)))
    await world.runs.append({
      run,
      lane: LANE,
      ordinal: DECIDED,
      guard: { below: DECIDED },
      at: new Date(world.clock.now()).toISOString(),
      events: [evaluated(evaluation, ref)],
    })
    return {}
  },
})

function evaluated({ completion }: GoalEvaluation, ref: string): NewEvent {
  const { goal_status, met_count, total_count, row, trust_passed, quality, final_status, action, pivot } = completion
  const said = completion.warnings.map(({ message }) => message).join('; ')
  return {
    type: 'goal:evaluated',
    data: {
      status: goal_status,
      met: met_count,
      total: total_count,
      row,
      attempt: pivot.attemptNumber,
      trust_passed,
      quality_passed: quality.passed,
      final_status,
      action,
      ...(said === '' ? {} : { reason: shortRedacted(said, MOST_REASON) }),
      ref,
    },
  }
}

/** All the gates are asked about a run whose blocks have ended, but for the attempts before it. */
interface RunRequest {
  readonly request: CompletionRequest
  readonly left_out: readonly LeftOut[]
}

/** Reads what a run is judged by: its frozen contract, the evidence, and what its verifiers say of that. */
async function completionRequest(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  pinned: Pinned,
  { completion }: RunGoal,
): Promise<RunRequest> {
  const standing = await currentOutputs(world, run)
  const { texts, artifacts, other_outputs, left_out } = await gatherEvidence(world, run, pinned, standing)
  const verdicts = await readVerdicts(world, run, { dag: pinned.dag, completion, standing })
  // Without it a run is never judged as one that has none.
  const contract = await frozenContract(world, pinned.meta)
  return {
    request: {
      ...(contract && { contract }),
      texts,
      artifacts,
      other_outputs,
      ...verdicts,
      quality: completion.quality,
    },
    left_out,
  }
}

/** Runs of one lineage that end at the same moment, at most: each of them gets another number. */
const MOST_RACES = 50

/**
 * The gates over one attempt at the goal of its lineage. One that failed gets its number there before anybody hears of
 * it; who is too late for a number is judged again, since one more attempt has failed before it. A run that has its
 * number keeps it, so that a repeat says the same.
 */
async function judgeAttempt(
  { runs, clock }: Pick<World, 'runs' | 'clock'>,
  meta: Meta,
  { request, left_out }: RunRequest,
): Promise<GoalEvaluation> {
  const { tenant, run_id } = meta
  const root = meta.root ?? run_id
  for (let race = 0; race < MOST_RACES; race += 1) {
    const before = attemptsBefore(await runs.goalAttempts(tenant, root), run_id)
    const evaluation = judged(meta, { ...request, prior_attempts: before.map(asPrior) }, left_out)
    const { completion, goal } = evaluation
    const failed = failedAttempt(goal)
    if (failed === undefined) return evaluation
    const attempt = {
      run_id,
      at: new Date(clock.now()).toISOString(),
      status: completion.final_status,
      fingerprint: fingerprintOf(meta),
      unmet: failed.unmet,
      metCount: goal.metCount,
      totalCount: goal.totalCount,
    }
    if (await runs.putGoalAttempt(tenant, root, before.length + 1, attempt)) return evaluation
  }
  const message = `Cannot number the attempt of run "${run_id}" at its goal: ${MOST_RACES} other runs of its lineage were faster. Try again.`
  throw new Fault('Unavailable', 'goal_attempts_contended', message, { facts: { run_id } })
}

function attemptsBefore(known: readonly StoredGoalAttempt[], run_id: string): readonly StoredGoalAttempt[] {
  const own = known.find((one) => one.run_id === run_id)
  return own === undefined ? known : known.filter(({ n }) => n < own.n)
}

function asPrior({ fingerprint, unmet }: StoredGoalAttempt): { fingerprint: string; unmet: readonly string[] } {
  return { fingerprint, unmet }
}

function judged(meta: Meta, request: CompletionRequest, left_out: RunRequest['left_out']): GoalEvaluation {
  const contract_hash = meta.goal?.contract_hash
  return {
    ...evaluateCompletion(request),
    ...(contract_hash === undefined ? {} : { contract_hash }),
    request,
    ...(left_out.length === 0 ? {} : { left_out }),
  }
}

/** Feedback is stored by its hash: its ref names it. */
function fingerprintOf({ dag_hash, inputs_hash, pivots, iterates }: Meta): string {
  const ref = (pivots ?? iterates)?.feedback_ref ?? ''
  return approachFingerprint({ dag_hash, inputs_hash, feedback_hash: ref.slice(ref.lastIndexOf('/') + 1) })
}

type Verdicts = Pick<CompletionRequest, 'trust_scores' | 'claimed_status' | 'blockers'>

interface Judges {
  readonly dag: Pick<Dag, 'blocks'>
  readonly completion: CompletionSettings
  readonly standing: readonly CurrentOutput[]
}

/**
 * What the verifiers, the claim and the blockers of a run say. Who is named and says nothing (it was skipped, its output
 * is not there, or what it judged was sent back after it) fails: a score of null, a claim that is none. What a verifier
 * says blocks the goal counts beside the blockers, an old word of it too.
 */
async function readVerdicts(world: Pick<World, 'objects'>, run: RunKey, judges: Judges): Promise<Verdicts> {
  const { trust, claim, blockers } = judges.completion
  const valueAt = (ref: string) => readRef(world, run, judges, ref)
  const scores: (readonly Json[])[] = []
  const blocking: (readonly Json[])[] = []
  for (const ref of trust?.from ?? []) {
    const value = await valueAt(ref)
    scores.push(isStale(judges, ref) ? [null] : scoresIn(value ?? null))
    blocking.push(listed(value ?? null).map((one) => memberOr(one, 'blockers', null)))
  }
  if (blockers !== undefined) blocking.push([memberOr((await valueAt(blockers)) ?? null, 'blockers')])
  const said = new Set(blocking.flat().flatMap((one) => (one === null ? [] : listed(one))))
  const claimed = claim === undefined || isStale(judges, claim) ? undefined : await valueAt(claim)
  return {
    trust_scores: scores.flat(),
    ...(claim === undefined ? {} : { claimed_status: claimOf(claimed) }),
    ...(said.size === 0 ? {} : { blockers: [...said] }),
  }
}

async function readRef(
  world: Pick<World, 'objects'>,
  { tenant }: RunKey,
  { standing }: Judges,
  ref: string,
): Promise<Json | undefined> {
  const [id = '', port = ''] = ref.split('.')
  const { outputs = {} } = standing.find(({ block }) => block === id) ?? {}
  const stored = Object.hasOwn(outputs, port) ? outputs[port] : undefined
  if (stored === undefined) return undefined
  return (await readOutputValues(world, tenant, { block: id, outputs: { [port]: stored } }))[port]
}

/** What it judged was made again since: a rule of another block sent that back, and this one has not looked again. */
function isStale({ dag, standing }: Judges, ref: string): boolean {
  const [id = ''] = ref.split('.')
  const { sent_back = new Set<string>() } = standing.find(({ block }) => block === id) ?? {}
  return sent_back.size > 0 && [...blocksBefore(dag, id)].some((one) => sent_back.has(one))
}

function listed(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value]
}

/** A number, or a mapping that has one as `trust_score`; of a list (a fan-out of verifiers) each, and none is no pass. */
function scoresIn(value: Json): readonly Json[] {
  if (!Array.isArray(value)) return [memberOr(value, 'trust_score')]
  const scores = value.map((one) => memberOr(one, 'trust_score'))
  return scores.length === 0 ? [null] : scores
}

/** Of what has no such member: the value itself, unless something else is said. */
function memberOr(value: Json, key: string, without: Json = value): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) return without
  // Checked above: a mapping with this own key.
  return (value as Readonly<Record<string, Json>>)[key] ?? null
}

/** Models end a word with a line break. */
function claimOf(value: Json | undefined): Json {
  return typeof value === 'string' ? value.trim() : (value ?? '')
}
