import { runLinks } from '../../shared/api/links.ts'
import { RUN_ROUTES, type RunSummary } from '../../shared/api/run-routes.ts'
import type { Head, Meta } from '../../shared/runs/run-store.ts'
import { shownState } from '../../shared/runs/shown-state.ts'
import { httpHandler } from '../http-handler.ts'

export const handler = httpHandler({
  name: 'list-runs',
  schema: RUN_ROUTES['list-runs'],
  run: async ({ query, principal }, world) => {
    const { runs, next } = await world.runs.list(principal.tenant, {
      limit: query.limit,
      ...(query.status === undefined ? {} : { state: query.status }),
      ...(query.dag === undefined ? {} : { dag_name: query.dag }),
      ...(query.cursor === undefined ? {} : { after: query.cursor }),
    })
    return { json: { runs: runs.map(summaryOf), next_cursor: next ?? null } }
  },
})

function summaryOf({ head, ...meta }: Meta & { readonly head: Head }): RunSummary {
  return {
    run_id: meta.run_id,
    dag_name: meta.dag_name,
    dag_hash: meta.dag_hash,
    state: shownState(head),
    starter: meta.starter,
    created_at: meta.created_at,
    deadline_at: head.deadline_at,
    blocks: meta.blocks,
    last_seq: head.seq,
    pending_approvals: Object.values(head.approvals).filter(({ status }) => status === 'pending').length,
    links: runLinks(meta.run_id),
  }
}
