import { decidedBy, voteOf } from './approval-rules.ts'
import type { RunEvent } from './event.ts'
import { changeBlock } from './fold-block.ts'
import type { Draft } from './fold-draft.ts'
import type { ApprovalFold, ItemFold } from './run-fold.ts'

/** A person was asked: the block waits. In the middle of an attempt it, or an item of it, waits since block:asked. */
export function openApproval(draft: Draft, event: Extract<RunEvent, { readonly type: 'approval:requested' }>): void {
  const { approval_id, digest, expires_at, approvers, quorum, about } = event.data
  draft.approvals.set(approval_id, {
    approval_id,
    block_id: event.block_id ?? '',
    status: 'pending',
    digest,
    requested_at: event.at,
    expires_at,
    approvers,
    quorum,
    ...(about === undefined ? {} : { about }),
  })
  if (about === undefined || about === 'dispatch') changeBlock(draft, event, { state: 'paused_approval' })
}

/** A vote that is not the last leaves it open. */
export function decideApproval(draft: Draft, event: Extract<RunEvent, { readonly type: 'approval:decided' }>): void {
  const { data, at } = event
  const { waited_ms, feedback_ref, edits_ref, iterate, have, need, person, via, declared } = data
  const vote = voteOf({ by: `${data.by.kind}:${data.by.id}`, person, via, declared }, at)
  const asked = draft.approvals.get(data.approval_id)
  if (asked?.status !== 'pending') return
  const isYes = data.decision !== 'reject'
  const votes = isYes && need > 1 ? { votes: [...(asked.votes ?? []), vote] } : {}
  if (isYes && have < need) {
    draft.approvals.set(data.approval_id, { ...asked, ...votes })
    return
  }
  answerApproval(draft, event, data.approval_id, {
    ...votes,
    status: isYes ? 'approved' : 'rejected',
    ...decidedBy(vote),
    waited_ms,
    ...(feedback_ref === undefined ? {} : { feedback_ref }),
    ...(edits_ref === undefined ? {} : { edits_ref }),
    ...(iterate === undefined ? {} : { iterate }),
  })
}

/** It was decided or expired: the block goes on from here, or fails by an event of its own. */
export function answerApproval(draft: Draft, event: RunEvent, id: string, answer: Partial<ApprovalFold>): void {
  const asked = draft.approvals.get(id)
  if (asked?.status !== 'pending') return
  draft.approvals.set(id, { ...asked, ...answer })
  const block_id = event.block_id ?? asked.block_id
  const block = draft.blocks.get(block_id)
  if (block?.state === 'paused_approval') changeBlock(draft, { ...event, block_id }, { state: 'ready' })
  else if (block?.items !== undefined) changeBlock(draft, { ...event, block_id }, { items: released(block.items) })
}

/** Items of a block share its question. */
function released(items: Readonly<Record<string, ItemFold>>): Readonly<Record<string, ItemFold>> {
  const moved = Object.entries(items).map(([i, item]): [string, ItemFold] => [
    i,
    item.state === 'paused_approval' ? { ...item, state: 'ready' } : item,
  ])
  return Object.fromEntries(moved)
}
