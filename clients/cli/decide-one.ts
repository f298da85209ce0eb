import type { RestartMode } from '../../shared/runs/head.ts'
import type { Target } from './api.ts'
import { approvalLines } from './approval-lines.ts'
import { decideShown } from './decide-shown.ts'
import { decidedLine } from './decided-line.ts'
import { fetchApproval, type InboxApproval } from './fetch-approvals.ts'
import { Refused } from './refused.ts'
import { rejection } from './rejection.ts'
import type { Decided } from './send-decision.ts'
import type { Session } from './session.ts'
import type { TargetOptions } from './target-options.ts'

export interface DecideOptions extends TargetOptions {
  readonly feedback?: string
  readonly yes?: true
  readonly iterate?: boolean
  readonly restartMode?: RestartMode
}

/** What became of one of several. */
export type Result = { readonly approval_id: string } & (
  | { readonly decided: true; readonly run_id: string; readonly status: string }
  | { readonly decided: false; readonly code: string; readonly detail: string }
)

/** Decides one approval by its id and says so; what cannot be decided is a result like another. */
export async function decideOne(
  session: Session,
  target: Target,
  decision: 'approve' | 'reject',
  id: string,
  options: DecideOptions,
): Promise<Result> {
  try {
    const approval = await fetchApproval(target, id)
    const answer = await decideThis(session, target, { approval, decision }, options)
    const what = `block ${approval.block_id} of ${approval.run_id}`
    if (options.json !== true) session.say(`${id}: ${decidedLine(decision, answer, what)}`)
    return { approval_id: id, decided: true, run_id: approval.run_id, status: answer.approval.status }
  } catch (error) {
    // Without a server nothing else will work either.
    if (!(error instanceof Refused) || OF_ALL.has(error.reason.code)) throw error
    return { approval_id: id, decided: false, code: error.reason.code, detail: error.reason.detail }
  }
}

const OF_ALL: ReadonlySet<string> = new Set(['no_server', 'not_sluice', 'usage'])

function decideThis(
  session: Session,
  target: Target,
  { approval, decision }: { readonly approval: InboxApproval; readonly decision: 'approve' | 'reject' },
  options: DecideOptions,
): Promise<Decided> {
  const { yes = false, json = false } = options
  const lines = approvalLines(approval, session.settings.command)
  const more = rejection(options)
  requireTheirs(approval)
  return decideShown(session, target, { runId: approval.run_id, approval, decision, lines, yes, json, more })
}

/** Nobody is asked about what is over, or is not theirs. */
function requireTheirs({ approval_id, status, decided_by, decided_at, may_decide }: InboxApproval): void {
  if (status === 'pending' && may_decide.allowed) return
  const by = decided_by === undefined ? '' : ` by ${decided_by}`
  const at = decided_at === undefined ? '' : ` at ${decided_at}`
  const why = status === 'pending' ? (may_decide.reason ?? 'you may not.') : `it is already ${status}${by}${at}.`
  const code = status === 'pending' ? (may_decide.code ?? 'not_an_approver') : 'already_decided'
  throw new Refused({ code, detail: `Cannot decide approval "${approval_id}": ${why}` })
}
