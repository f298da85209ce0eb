import { callApi, type Target } from './api.ts'
import { auditProblems } from './check-audit.ts'
import { AuditedRunSchema, auditOf } from './fetch-audit.ts'
import { fetchEvents } from './fetch-run.ts'
import { FoldedRunSchema, type Recomputed, recomputeRun } from './recompute-run.ts'
import { Refused } from './refused.ts'

type ChainEnds = Pick<Parameters<typeof recomputeRun>[0], 'seal' | 'anchor'>

/** What this command works out by itself; what cannot be read at all is found, too. `audit`: an exported record. */
export async function recomputeHere(
  target: Target,
  runId: string,
  { seal, anchor }: ChainEnds,
  audit: string | undefined,
): Promise<readonly Recomputed[]> {
  try {
    const run = await callApi(target, FoldedRunSchema.and(AuditedRunSchema), (api) =>
      api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id: runId } } }),
    )
    const events = await fetchEvents(target, runId)
    const own = recomputeRun({ events, run, seal, anchor })
    if (audit === undefined) return own
    return [...own, { title: 'record of decisions', problems: auditProblems(audit, runId, auditOf(run, events)) }]
  } catch (error) {
    if (!(error instanceof Refused) || error.status === undefined || error.status < 500) throw error
    return [{ title: 'replay: every event once, in order', problems: [error.reason.detail] }]
  }
}
