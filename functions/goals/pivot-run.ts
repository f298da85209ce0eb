import { GOAL_ROUTES, type PivotRunBody } from '../../shared/api/goal-routes.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import type { Completion } from '../../shared/goals/completion.ts'
import type { Head } from '../../shared/runs/head.ts'
import { runApiPaths } from '../../shared/runs/ids.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'
import { readEvaluation } from '../record/evaluation.ts'
import { type Pinned, readPinned } from '../record/pinned-run.ts'
import { requireRun } from '../require-run.ts'
import { authoredParts, changesFromRetriedRun, requireAuthor } from '../runs/authoring.ts'
import { type BegunRun, beginRun, type RunRequest } from '../runs/begin-run.ts'
import { withCodeOfToday } from '../runs/code-of-today.ts'
import { givenContext, MADE_KEYS, requestKeys } from '../runs/context.ts'
import { PIVOT_KIND, preparePivotRun } from '../runs/goal-pivot.ts'
import { checkStartValues } from '../runs/start-values.ts'

/**
 * The next attempt at the goal of a run that ended partial: one a run, whoever asks for it and however often; also the
 * one the run made by itself. It is written owing its start, as a retry is.
 */
export const handler = changeHandler({
  name: 'pivot-run',
  schema: GOAL_ROUTES['pivot-run'],
  run: async (call, world) => {
    const { principal, body } = call
    const { run: old, head } = await requireRun(world, call)
    const order = await orderPivot(world, principal, { run: old, head, body })
    const entry = { ...order, route: PIVOT_KIND, key: old.run_id, of_anybody: true as const, body }
    const entered = beginRun(world, principal, entry, (run) => world.outbox.nudge(run))
    const begun = await entered.catch((cause: unknown) => madeOtherwise(old.run_id, cause))
    const { run, created, queued, dag_name, dag_hash, blocks, edges } = begun
    const links = runApiPaths(run.run_id)
    const json = { run_id: run.run_id, dag_name, dag_hash, blocks, edges, pivots: old.run_id, links }
    return { status: created ? 201 : 200, json: { ...json, ...(queued && { queued }) } }
  },
})

/** The id of the next attempt is that of its run: another body finds it made. */
function madeOtherwise(run_id: string, cause: unknown): BegunRun {
  if (!(cause instanceof Fault && cause.code === 'idempotency_key_reused')) throw cause
  const next = String(cause.facts?.run_id)
  const message = `Cannot pivot run "${run_id}": its next attempt was made with other words or values, as run "${next}". Look at that one; when it ends partial, it can be pivoted in turn.`
  throw new Fault('Conflict', 'pivot_made', message, { facts: { run_id: next }, cause })
}

/**
 * What a pivot of a run starts, checked. Faults: Conflict run_not_ended, run_is_child, run_is_research, no_goal,
 * not_to_pivot; those of values of a start.
 */
async function orderPivot(
  world: Pick<World, 'runs' | 'objects' | 'settings' | 'steps'>,
  principal: Principal,
  { run, head, body }: { readonly run: RunKey; readonly head: Head; readonly body: PivotRunBody },
): Promise<Omit<RunRequest, 'route' | 'key' | 'body'>> {
  const pinned = await readPinned(world, run)
  refuseKind(run, head, pinned)
  const judged = await readEvaluation(world, run)
  const why = whyNot(head, judged?.evaluation.completion)
  if (judged === undefined || why !== undefined) {
    const message = `Cannot pivot run "${run.run_id}": ${why}. Only a run that ended partial with criteria its next attempt may still meet is tried again.`
    throw new Fault('Conflict', 'not_to_pivot', message, { facts: { run_id: run.run_id } })
  }
  const { feedback, ...values } = body
  const dag = await withCodeOfToday(world, pinned.dag, { doing: 'pivot', asItWas: new Set() })
  const { context, ...next } = await preparePivotRun(world, run, { ...pinned, dag }, judged.evaluation, feedback)
  const from = { children: next.children, made: MADE_KEYS }
  requireAuthor(world.settings, principal, [
    ...changesFromRetriedRun(pinned, next.dag_hash, world.settings),
    ...(feedback === undefined ? [] : ['words of its own (feedback)']),
    ...authoredParts(values, next.dag),
  ])
  const now = checkStartValues(next.dag, { ...values, overrides: next.overrides }, context, from)
  const before = { run, meta: pinned.meta }
  const beginning = { dag: next.dag, context: now, given: requestKeys(values), made: MADE_KEYS, before }
  return { ...next, context: now, ...(await givenContext(world, beginning)) }
}

function refuseKind({ run_id }: RunKey, head: Head, { meta }: Pinned): void {
  const refusal = kindRefusal(head, meta)
  if (refusal === undefined) return
  const [code, words] = refusal
  throw new Fault('Conflict', code, `Cannot pivot run "${run_id}": ${words}`, { facts: { run_id } })
}

function kindRefusal(head: Head, { kind, parent, goal }: Pinned['meta']): readonly [string, string] | undefined {
  if (head.state === 'running')
    return ['run_not_ended', 'it has not ended. Wait for it with `sluice run watch`, or stop it.']
  if (kind === 'research')
    return ['run_is_research', 'it answers a question, and has no goal. Ask again with POST /api/research.']
  if (parent !== undefined) {
    const words = `it is the child of a block of run "${parent.run_id}", which alone waits for it. Retry or pivot that one.`
    return ['run_is_child', words]
  }
  if (goal !== undefined) return undefined
  return ['no_goal', 'it has no goal: neither a goal contract nor `completion`. `sluice run retry` starts it again.']
}

function whyNot({ state }: Head, judged: Completion | undefined): string | undefined {
  if (judged === undefined) return `it ended ${state}, before its completion was judged`
  const { final_status, row, pivot, action } = judged
  const ended = `it ended ${state} (${final_status}, ${row})`
  if (state !== 'partial') return ended
  return pivot.shouldPivot ? undefined : `${ended}, and what it needs is ${NEEDED[action] ?? 'no other attempt'}`
}

/** What a partial end asks for that is no pivot. */
const NEEDED: Readonly<Partial<Record<Completion['action'], string>>> = {
  rework_trust: 'evidence that can be trusted: mend that and retry it',
  fix_quality: 'findings that are well-formed: mend those and retry it',
}
