import type { RunSummary } from '../../shared/api/run-routes.ts'
import { type Head, shownState } from '../../shared/runs/head.ts'
import { runApiPaths } from '../../shared/runs/ids.ts'
import { currentLabels } from '../../shared/runs/labels.ts'
import { DAMAGED_FIX, type DamagedRun, type RunPage, runRole } from '../../shared/runs/run-store.ts'
import { priceInLedger } from '../../shared/runs/usage-cost.ts'

/** Runs of a list whose stored items cannot be read, with what to do. */
export function damagedRuns(damaged: readonly DamagedRun[]) {
  const told = damaged.map(({ run_id, item, seen }) => ({ run_id, item, seen: seen.slice(0, 200), fix: DAMAGED_FIX }))
  return told.length === 0 ? {} : { damaged: told }
}

function endOf({ ended }: Head): Pick<RunSummary, 'ended_at' | 'code' | 'reason'> {
  return ended === undefined ? { ended_at: null } : { ended_at: ended.at, code: ended.code, reason: ended.reason }
}

/** A run as lists show it. */
export function summaryOf({ head, ...meta }: RunPage['runs'][number]): RunSummary {
  const labels = currentLabels(meta, head)
  return {
    run_id: meta.run_id,
    dag_name: meta.dag_name,
    dag_hash: meta.dag_hash,
    role: runRole(meta),
    state: shownState(head),
    starter: meta.starter,
    created_at: meta.created_at,
    deadline_at: head.deadline_at,
    blocks: meta.blocks,
    last_seq: head.seq,
    pending_approvals: Object.values(head.approvals).filter(({ status }) => status === 'pending').length,
    tokens: head.budget.spent_tokens,
    ...priceInLedger(head.budget),
    ...endOf(head),
    ...(head.state !== 'running' || head.paused === undefined ? {} : { paused: head.paused }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(meta.parent === undefined ? {} : { parent: meta.parent }),
    ...(meta.continues === undefined ? {} : { continues: meta.continues }),
    ...(meta.retry_of === undefined ? {} : { retry_of: meta.retry_of.run_id }),
    ...(meta.iterates === undefined ? {} : { iterates: meta.iterates.run_id }),
    ...(meta.pivots === undefined ? {} : { pivots: meta.pivots.run_id }),
    links: runApiPaths(meta.run_id),
  }
}
