import { decidedWords } from '../../shared/runs/approval-rules.ts'
import type { HeadApproval } from '../../shared/runs/head.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { shortText } from '../blocks/short-text.ts'
import { expireApproval } from './expire-approval.ts'

/** Whether a block may be dispatched as far as people are concerned. Read from HEAD, never from state input. */
export type DecisionState =
  | { readonly kind: 'granted' }
  | { readonly kind: 'undecided' }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string }

/** A block without approval is granted; an expiry the sweeper missed is recorded here. */
export async function readDecision(call: BlockCall): Promise<DecisionState> {
  const { world, run, block, head, epoch } = call
  if (block.approval === undefined) return { kind: 'granted' }
  const id = approvalId(run.run_id, block.index, epoch)
  const approval = head.approvals[id]
  if (approval === undefined) return { kind: 'undecided' }
  if (approval.status === 'pending') {
    if (Date.parse(approval.expires_at) > world.clock.now()) return { kind: 'undecided' }
    const { on_timeout } = block.approval
    const expired = await expireApproval(
      world,
      run,
      { id, block: block.index, block_id: block.id, on_timeout },
      approval,
    )
    return expired === undefined ? { kind: 'undecided' } : answerOf(call, expired)
  }
  return answerOf(call, approval)
}

async function answerOf(call: BlockCall, approval: HeadApproval): Promise<DecisionState> {
  const { block } = call
  const onTimeout = block.approval?.on_timeout
  if (approval.status === 'approved') return { kind: 'granted' }
  if (approval.status === 'expired') {
    if (onTimeout === 'approve') return { kind: 'granted' }
    const reason = `nobody decided before ${approval.expires_at} (on_timeout: ${onTimeout})`
    return { kind: 'refused', code: 'approval_expired', reason }
  }
  return {
    kind: 'refused',
    code: 'approval_rejected',
    reason: `${decidedWords(approval)}${await feedbackOf(call, approval)}`,
  }
}

/** What the person wrote, as far as a reason has room for it; the whole text lies in the object store. */
async function feedbackOf({ world, run }: BlockCall, { feedback_ref }: HeadApproval): Promise<string> {
  if (feedback_ref === undefined) return ''
  const text = Buffer.from(await world.objects.get(run.tenant, feedback_ref)).toString('utf8')
  return `: ${shortText(text)}`
}
