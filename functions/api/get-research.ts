import { RESEARCH_ROUTES } from '../../shared/api/research-routes.ts'
import { Fault } from '../../shared/errors.ts'
import type { Stage } from '../../shared/research/stages.ts'
import { runApiPaths } from '../../shared/runs/ids.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { headAfter } from '../record/end-of-run.ts'
import { readLog } from '../record/run-log.ts'
import { readResearchAnswer } from '../research/research-answer.ts'
import { readChain } from '../research/stored-chain.ts'

/** The answer of a research run; before its end 202 and the stage it is at, after `wait` seconds at the most. */
export const handler = httpHandler({
  name: 'get-research',
  schema: RESEARCH_ROUTES['get-research'],
  run: async ({ principal, params, query, signal }, world) => {
    const run = { tenant: principal.tenant, run_id: params.run_id }
    const meta = await requireResearch(world, run)
    const head = await headAfter(world, run, query.wait, signal)
    const { run_id } = run
    const links = runApiPaths(run_id)
    if (head.state === 'running') {
      const state = head.queued === true ? ('pending' as const) : ('running' as const)
      return { status: 202, json: { run_id, state, stage: await stageOf(world, run), links } }
    }
    return { json: { ...(await readResearchAnswer(world, meta, head.state, query)), links } }
  },
})

/** A run of another kind, or of another tenant, is as good as none. */
async function requireResearch({ runs }: World, run: RunKey): Promise<Meta> {
  const meta = await runs.meta(run)
  if (meta?.kind === 'research') return meta
  const message = `Cannot find research run "${run.run_id}": there is no such question. POST /api/research asks one; other runs are at /api/dag/runs.`
  throw new Fault('NotFound', 'unknown_run', message)
}

async function stageOf(world: World, run: RunKey): Promise<Stage> {
  const { stage } = (await readLog(world, run)).fold
  if (stage === undefined) return 'nl_classify'
  const { next } = await readChain(world, run.tenant, stage.ref)
  return next === 'settle' ? 'synthesize_answer' : next
}
