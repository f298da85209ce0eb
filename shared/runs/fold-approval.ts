import type { RunEvent } from './event.ts'
import { changeBlock } from './fold-block.ts'
import type { Draft } from './fold-draft.ts'
import type { ApprovalFold } from './run-fold.ts'

/** A person was asked: the block waits. */
export function openApproval(draft: Draft, event: Extract<RunEvent, { readonly type: 'approval:requested' }>): void {
  const { approval_id, digest, expires_at, approvers, quorum } = event.data
  draft.approvals.set(approval_id, {
    approval_id,
    block_id: event.block_id ?? '',
    status: 'pending',
    digest,
    requested_at: event.at,
    expires_at,
    approvers,
    quorum,
  })
  changeBlock(draft, event, { state: 'paused_approval' })
}

/** It was decided or expired: the block goes on from here, or fails by an event of its own. */
export function answerApproval(draft: Draft, event: RunEvent, id: string, answer: Partial<ApprovalFold>): void {
  const asked = draft.approvals.get(id)
  if (asked?.status !== 'pending') return
  draft.approvals.set(id, { ...asked, ...answer })
  const block_id = event.block_id ?? asked.block_id
  if (draft.blocks.get(block_id)?.state === 'paused_approval') {
    changeBlock(draft, { ...event, block_id }, { state: 'ready' })
  }
}
