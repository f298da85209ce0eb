import type { Json } from '../../shared/canonical.ts'
import type { ApprovalPolicy } from '../../shared/dag/dag.ts'
import { approverRule } from '../../shared/runs/approver-rule.ts'
import { blockEpoch } from '../../shared/runs/block-lane.ts'
import type { HeadApproval } from '../../shared/runs/head.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { type People, peopleOf, personOf } from '../../shared/runs/people.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import type { EarlierBlock } from '../blocks/earlier-result.ts'
import { describeQuestion } from './describe-question.ts'

/**
 * Whether a decision of an earlier run stands for the question this run would ask: only where the document says
 * `reuse: true`, where the digest is the same (so prompt, values, definition, document, overrides, context and outputs that
 * a yes binds are), and where everybody who said yes still may decide. An expiry that counted as approval was nobody's
 * decision. Whoever starts this run may not lean on a yes of their own, or a vote, where that is forbidden.
 */
export async function isApprovedEarlier(
  call: BlockCall,
  { run, head, at, ...places }: EarlierBlock,
  values: Readonly<Record<string, Json>>,
): Promise<boolean> {
  const policy = call.block.approval
  const epoch = blockEpoch(places, head, call.block.id)
  const approval = head.approvals[approvalId(run.run_id, at, epoch)]
  if (policy?.reuse !== true || approval?.status !== 'approved') return false
  const people = peopleOf(call.world.settings)
  const voters = votersOf(approval)
  if (leansOnSelf(call, policy, voters, people)) return false
  for (const voter of voters) if (!(await mayStillDecide(call, policy, approval, { ...voter, people }))) return false
  return (await describeQuestion(call, policy, values)).digest === approval.digest
}

/** A name, and the person where that is another one. */
interface Voter {
  readonly name: string
  readonly person?: string | undefined
}

/** Everybody who said yes; who decided is the last of several votes. */
function votersOf({ decided_by = '', decided_person, votes = [] }: HeadApproval): readonly Voter[] {
  const voted = votes.map(({ by, person }) => ({ name: by, person }))
  return voted.some(({ name }) => name === decided_by)
    ? voted
    : [...voted, { name: decided_by, person: decided_person }]
}

function leansOnSelf(
  { meta }: BlockCall,
  { self_approval }: ApprovalPolicy,
  voters: readonly Voter[],
  people: People,
): boolean {
  if (self_approval && people.self_approval) return false
  const starter = personOf(meta.starter_person ?? meta.starter, people)
  return voters.some(({ name, person = name }) => personOf(person, people) === starter)
}

const TOKEN = 'token:'

/** By the approvers and groups of now; a token that was revoked, has expired or lost the scope decides no more. */
async function mayStillDecide(
  { world, run }: BlockCall,
  policy: ApprovalPolicy,
  { escalated }: HeadApproval,
  { name, person, people }: Voter & { readonly people: People },
): Promise<boolean> {
  const state = escalated === true ? { escalated } : {}
  if (approverRule(policy, state, name, people, person) === undefined) return false
  if (!name.startsWith(TOKEN)) return true
  const token = await world.tokens.get(name.slice(TOKEN.length))
  return (
    token?.tenant === run.tenant &&
    token.revoked === undefined &&
    Date.parse(token.expires_at) > world.clock.now() &&
    token.scopes.includes('approvals:decide')
  )
}
