import { LINEAGE_ROUTES } from '../../shared/api/lineage-routes.ts'
import { runLinks } from '../../shared/api/links.ts'
import { changeHandler } from '../change-handler.ts'
import { requireRun } from '../require-run.ts'
import { enterRun } from './enter-run.ts'
import { orderRetry } from './order-retry.ts'

/**
 * A linked run in place of an ended one. It is written owing its start, which send-outbox hands to start-run: nothing
 * here starts executions or makes machines.
 */
export const handler = changeHandler({
  name: 'retry-run',
  schema: LINEAGE_ROUTES['retry-run'],
  run: async (call, world) => {
    const { principal, body, headers } = call
    const { run: old, head } = await requireRun(world, call)
    const { order, reused_expected } = await orderRetry(world, principal, { run: old, head, body })
    const route = `POST /api/dag/runs/${old.run_id}/retry`
    const entry = { ...order, route, key: headers['idempotency-key'], body }
    const begun = await enterRun(world, principal, entry, (run) => world.outbox.nudge(run))
    const { run, created, dag_name, dag_hash, blocks, edges } = begun
    const links = runLinks(run.run_id)
    const json = { run_id: run.run_id, dag_name, dag_hash, blocks, edges, retry_of: old.run_id, links }
    return { status: created ? 201 : 200, json: { ...json, reused_expected: [...reused_expected] } }
  },
})
