import type { RunFold } from '../../shared/runs/run-fold.ts'
import { shownPrice } from '../../shared/runs/shown-price.ts'
import type { RunAnswer } from './fetch-run.ts'

/** The run as it is now: what GET run said once (blocks in document order, their tries) and what its events tell since. */
export function liveRun(answer: RunAnswer, fold: RunFold): RunAnswer {
  const { blocks: known, steps, state, tokens, started_at, ended_at, reason } = fold
  const times = { ...(started_at && { started_at }), ...(ended_at && { ended_at }), ...(reason && { reason }) }
  const blocks = Object.entries(answer.blocks).map(([id, { max_attempts }]): [string, RunAnswer['blocks'][string]] => {
    const block = Object.hasOwn(known, id) ? known[id] : undefined
    // The end of a run cancels also the blocks no event ever named.
    const unseen = { state: state === 'running' ? 'pending' : 'cancelled', attempt: 0, gates: [] }
    return [id, { ...(block ?? unseen), max_attempts }]
  })
  const { run_id, dag_name } = answer.run
  return {
    run: { run_id, dag_name, state, tokens, ...shownPrice(fold), ...times },
    blocks: Object.fromEntries(blocks),
    steps: steps.map((step) => ({ ...step })),
    approvals: answer.approvals,
    dag: answer.dag,
  }
}
