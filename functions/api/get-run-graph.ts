import { DOCUMENT_ROUTES } from '../../shared/api/document-routes.ts'
import { dagGraph } from '../../shared/plan/dag-graph.ts'
import type { RunGraph } from '../../shared/plan/graph-schema.ts'
import { type RunAnswer, viewRun } from '../../shared/views/run.ts'
import { httpHandler } from '../http-handler.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readLog } from '../record/run-log.ts'
import { requireRun } from '../require-run.ts'

/** The pinned document as a graph, with what each block is doing; the critical path is that of the times seen so far. */
export const handler = httpHandler({
  name: 'get-run-graph',
  schema: DOCUMENT_ROUTES['get-run-graph'],
  run: async (call, world) => {
    const { run, head } = await requireRun(world, call)
    const { meta, dag } = await readPinned(world, run)
    const now = world.clock.now()
    const { max_attempts, max_run_bytes } = world.settings.safety
    const log = await readLog(world, run)
    const view = viewRun({ meta, dag, head, ...log, now, max_attempts, max_run_bytes })
    await world.clock.turn?.()
    const until = view.run.ended_at === undefined ? now : Date.parse(view.run.ended_at)
    const seen = new Map(dag.blocks.map(({ id }) => [id, secondsOf(view.blocks[id], until)]))
    const graph = dagGraph(dag, (id) => seen.get(id) ?? EXPECTED_SECONDS)
    const nodes = graph.nodes.map((node) => ({ ...node, ...liveOf(view.blocks[node.id], seen.get(node.id)) }))
    return { json: { ...graph, run_id: run.run_id, state: view.run.state, nodes } }
  },
})

type BlockView = RunAnswer['blocks'][string]

/** Of a block that has not started, as in a plan that was told nothing. */
const EXPECTED_SECONDS = 1

function secondsOf(block: BlockView | undefined, until: number): number | undefined {
  if (block?.started_at === undefined) return undefined
  const end = block.ended_at === undefined ? until : Date.parse(block.ended_at)
  return Math.max(0, end - Date.parse(block.started_at)) / 1_000
}

type Live = Pick<
  RunGraph['nodes'][number],
  'state' | 'attempt' | 'max_attempts' | 'epoch' | 'started_at' | 'ended_at' | 'seconds'
>

function liveOf(block: BlockView | undefined, seconds: number | undefined): Live {
  const { state = 'pending', attempt = 0, max_attempts = 1, epoch = 0, started_at, ended_at } = block ?? {}
  return {
    state,
    attempt,
    max_attempts,
    epoch,
    ...(started_at !== undefined && { started_at }),
    ...(ended_at !== undefined && { ended_at }),
    ...(seconds !== undefined && { seconds }),
  }
}
