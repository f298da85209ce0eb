import type { Command, CommandOptions } from 'commander'
import { RunGraphSchema } from '../../shared/plan/graph.ts'
import { callApi, chooseTarget } from './api.ts'
import { type GraphOptions, sayGraph, withFormat } from './graph-format.ts'
import type { Session } from './session.ts'

/** Without `run` the name is that of the command that draws a file, so this one is there only as `run graph`. */
export function addRunGraph(parent: Command, session: Session, hidden?: CommandOptions): void {
  withFormat(parent.command('graph', hidden).description('draw a run with the state of each block'))
    .argument('<run-id>')
    .option('--url <url>', 'server to use (default: SLUICE_URL, else http://127.0.0.1:4040)')
    .action(async (runId: string, options: GraphOptions & { readonly url?: string }) => {
      const target = chooseTarget(session, options.url)
      const graph = await callApi(target, RunGraphSchema, (api) =>
        api.GET('/api/dag/runs/{run_id}/graph', { params: { path: { run_id: runId } } }),
      )
      await sayGraph(session, graph, options)
    })
}
