import type { Json } from '../../shared/canonical.ts'
import type { ApprovalPolicy } from '../../shared/dag/dag.ts'
import { blockEpoch } from '../../shared/runs/block-lane.ts'
import type { HeadApproval } from '../../shared/runs/head.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { peopleOf, personOf } from '../../shared/runs/people.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import type { EarlierBlock } from '../blocks/earlier-result.ts'
import { describeQuestion } from './describe-question.ts'

/**
 * Whether a person approved, in an earlier run, exactly what this run would ask: the digest binds a decision to the
 * prompt, the values shown and the block's definition. An expiry that counted as approval was nobody's decision. Whoever
 * starts this run may not lean on a yes of their own, or a vote, where that is forbidden.
 */
export async function isApprovedEarlier(
  call: BlockCall,
  { run, head, at, ...places }: EarlierBlock,
  values: Readonly<Record<string, Json>>,
): Promise<boolean> {
  const policy = call.block.approval
  const epoch = blockEpoch(places, head, call.block.id)
  const approval = head.approvals[approvalId(run.run_id, at, epoch)]
  if (policy === undefined || approval?.status !== 'approved') return false
  if (leansOnSelf(call, policy, approval)) return false
  return (await describeQuestion(call, policy, values)).digest === approval.digest
}

function leansOnSelf(
  { world, meta }: BlockCall,
  { self_approval }: ApprovalPolicy,
  { decided_by = '', votes = [] }: HeadApproval,
): boolean {
  const people = peopleOf(world.settings)
  if (self_approval && people.self_approval) return false
  const starter = personOf(meta.starter, people)
  return [decided_by, ...votes.map(({ by }) => by)].some((name) => personOf(name, people) === starter)
}
