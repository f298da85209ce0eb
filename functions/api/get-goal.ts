import { GOAL_ROUTES } from '../../shared/api/goal-routes.ts'
import { Fault } from '../../shared/errors.ts'
import { shownState } from '../../shared/runs/head.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import { viewGoal } from '../../shared/views/goal.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { readEvaluation } from '../record/evaluation.ts'
import { frozenContract } from '../record/freeze-goal.ts'
import { requireRun } from '../require-run.ts'

/** How far a run is with its goal; before it was judged, what is wanted of it. */
export const handler = httpHandler({
  name: 'get-goal',
  schema: GOAL_ROUTES['get-goal'],
  run: async (call, world) => {
    const { run, head } = await requireRun(world, call)
    const { tenant, run_id } = run
    const { meta, goal } = await requireGoal(world, run)
    const root = meta.root ?? run_id
    const judged = await readEvaluation(world, run)
    const contract = await frozenContract(world, meta)
    const attempts = await world.runs.goalAttempts(tenant, root)
    const lineage = await world.runs.lineage(tenant, root)
    const [end] = head.state === 'running' ? [] : await world.runs.events(run, head.seq - 1, 1)
    const state = shownState(head)
    return { json: viewGoal({ run_id, state, goal, contract, judged, attempts, lineage, end }) }
  },
})

async function requireGoal({ runs }: World, run: Pick<Meta, 'tenant' | 'run_id'>) {
  const meta = await runs.meta(run)
  if (meta?.goal !== undefined) return { meta, goal: meta.goal }
  const message = `Cannot show the goal of run "${run.run_id}": it has none. A run has one when its document or the request that starts it has a goal_contract, or its document has \`completion\`.`
  throw new Fault('NotFound', 'no_goal', message, { facts: { run_id: run.run_id } })
}
