import { REJECTION_GATE } from '../../shared/dag/rejection-gate.ts'
import { decidedWords } from '../../shared/runs/approval-rules.ts'
import type { HeadApproval, RestartMode } from '../../shared/runs/head.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { shortText } from '../blocks/short-text.ts'
import { expireApproval } from './expire-approval.ts'

/** A rejection that another run is to take the place of this one for, and what it is where that cannot be. */
export interface Iteration {
  readonly kind: 'iterate'
  readonly approval_id: string
  readonly mode: RestartMode
  readonly feedback_ref: string
  readonly refusal: { readonly code: string; readonly reason: string }
}

/** Whether a block may be dispatched as far as people are concerned. Read from HEAD, never from state input. */
export type DecisionState =
  | { readonly kind: 'granted' }
  | { readonly kind: 'undecided' }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string; readonly gates?: readonly string[] }
  | Iteration

/** A block without approval is granted; an expiry the sweeper missed is recorded here. */
export async function readDecision(call: BlockCall): Promise<DecisionState> {
  const { world, run, block, head, epoch } = call
  if (block.approval === undefined) return { kind: 'granted' }
  const id = approvalId(run.run_id, block.index, epoch)
  const approval = head.approvals[id]
  if (approval === undefined) return { kind: 'undecided' }
  if (approval.status !== 'pending') return answerOf(call, id, approval)
  if (Date.parse(approval.expires_at) > world.clock.now()) return { kind: 'undecided' }
  const { on_timeout } = block.approval
  const expired = await expireApproval(world, run, { id, block: block.index, block_id: block.id, on_timeout })
  return expired === undefined ? { kind: 'undecided' } : answerOf(call, id, expired)
}

async function answerOf(call: BlockCall, id: string, approval: HeadApproval): Promise<DecisionState> {
  const { on_timeout, on_reject } = call.block.approval ?? {}
  if (approval.status === 'approved') return { kind: 'granted' }
  if (approval.status === 'expired') {
    if (on_timeout === 'approve') return { kind: 'granted' }
    const reason = `nobody decided before ${approval.expires_at} (on_timeout: ${on_timeout})`
    return { kind: 'refused', code: 'approval_expired', reason }
  }
  const { iterate: mode, feedback_ref } = approval
  const reason = `${decidedWords(approval)}${await feedbackOf(call, approval)}`
  const refusal = { code: 'approval_rejected', reason }
  if (mode !== undefined && feedback_ref !== undefined) {
    return { kind: 'iterate', approval_id: id, mode, feedback_ref, refusal }
  }
  return { kind: 'refused', ...refusal, ...(on_reject === 'route' ? { gates: [REJECTION_GATE] } : {}) }
}

/** What the person wrote, as far as a reason has room for it; the whole text lies in the object store. */
async function feedbackOf({ world, run }: BlockCall, { feedback_ref }: HeadApproval): Promise<string> {
  if (feedback_ref === undefined) return ''
  const text = Buffer.from(await world.objects.get(run.tenant, feedback_ref)).toString('utf8')
  return `: ${shortText(text)}`
}
