import { GOAL_ROUTES } from '../../shared/api/goal-routes.ts'
import { runLinks } from '../../shared/api/links.ts'
import { Fault } from '../../shared/errors.ts'
import { changeHandler } from '../change-handler.ts'
import { requireRun } from '../require-run.ts'
import { type BegunRun, enterRun } from './enter-run.ts'
import { orderPivot } from './order-pivot.ts'
import { PIVOT } from './pivoted-run.ts'

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
    const entry = { ...order, route: PIVOT, key: old.run_id, of_anybody: true as const, body }
    const entered = enterRun(world, principal, entry, (run) => world.outbox.nudge(run))
    const begun = await entered.catch((cause: unknown) => madeOtherwise(old.run_id, cause))
    const { run, created, queued, dag_name, dag_hash, blocks, edges } = begun
    const links = runLinks(run.run_id)
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
