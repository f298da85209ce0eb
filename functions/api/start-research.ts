import { RESEARCH_ROUTES } from '../../shared/api/research-routes.ts'
import { loopEntityId } from '../../shared/research/loop-entity.ts'
import { runApiPaths } from '../../shared/runs/ids.ts'
import { changeHandler } from '../http-handler.ts'
import { beginRun } from '../runs/begin-run.ts'
import { prepareResearchRun, RESEARCH_DEADLINE_SEC } from '../runs/prepare-research-run.ts'

/**
 * A question. Its run is written owing its start, which send-outbox hands to start-run: nothing here starts executions
 * or makes machines.
 */
export const handler = changeHandler({
  name: 'start-research',
  schema: RESEARCH_ROUTES['start-research'],
  run: async ({ principal, body, headers }, world) => {
    const { parent_loop, embeddings_weight, ...question } = body
    const order = await prepareResearchRun(world, principal.tenant, question, {
      ...(typeof parent_loop === 'string' && { parent_loop }),
      ...(typeof embeddings_weight === 'number' && { embeddings_weight }),
    })
    const entry = {
      ...order,
      route: 'POST /api/research',
      key: headers['idempotency-key'],
      body,
      options: { deadline_sec: RESEARCH_DEADLINE_SEC },
    }
    const { run, created, queued } = await beginRun(world, principal, entry, (id) => world.outbox.nudge(id))
    const { tenant, run_id } = run
    const links = { ...runApiPaths(run_id), answer: `/api/research/${run_id}` }
    const json = { run_id, loop: loopEntityId(tenant, run_id), ...(queued ? { queued } : {}), links }
    return { status: created ? 201 : 200, json }
  },
})
