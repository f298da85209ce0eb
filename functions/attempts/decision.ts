import { REJECTION_GATE } from '../../shared/dag/dag.ts'
import { earlierDecisionWords } from '../../shared/runs/approval-words.ts'
import type { HeadApproval, RestartMode } from '../../shared/runs/head.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { expireApproval } from '../runs/due-approvals.ts'
import type { BlockCall, OpenQuestion, PersonAnswer } from './block-call.ts'
import { askPerson } from './block-report.ts'
import { findQuestion } from './question.ts'

/** A rejection that another run is to take the place of this one for, and what it is where that cannot be. */
export interface Iteration {
  readonly kind: 'iterate'
  readonly approval_id: string
  readonly mode: RestartMode
  readonly feedback_ref: string
  readonly refusal: { readonly code: string; readonly reason: string }
}

/** Whether a block may be dispatched as far as people are concerned. Read from HEAD, never from state input. */
type DecisionState =
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
  if (approval.status !== 'pending') return decidedState(call, id, approval)
  if (Date.parse(approval.expires_at) > world.clock.now()) return { kind: 'undecided' }
  const { on_timeout } = block.approval
  const expired = await expireApproval(world, run, { id, block: block.index, block_id: block.id, on_timeout })
  return expired === undefined ? { kind: 'undecided' } : decidedState(call, id, expired)
}

async function decidedState(call: BlockCall, id: string, approval: HeadApproval): Promise<DecisionState> {
  const { on_timeout, on_reject } = call.block.approval ?? {}
  if (approval.status === 'approved') return { kind: 'granted' }
  if (approval.status === 'expired') {
    if (on_timeout === 'approve') return { kind: 'granted' }
    const reason = `nobody decided before ${approval.expires_at} (on_timeout: ${on_timeout})`
    return { kind: 'refused', code: 'approval_expired', reason }
  }
  const { iterate: mode, feedback_ref } = approval
  const reason = `${earlierDecisionWords(approval)}${await feedbackOf(call, approval)}`
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
  return `: ${shortRedacted(text)}`
}

/** Read from HEAD, never from state input. Nobody has answered: AskPerson; an expiry the sweeper missed is recorded here. */
export async function requireAnswer(call: BlockCall, ask: OpenQuestion): Promise<PersonAnswer> {
  const answer = await findAnswer(call, ask)
  if (answer !== undefined) return answer
  const { approval_id } = ask
  const { world, run, block, head } = call
  const expires = head.approvals[approval_id]?.expires_at
  if (expires === undefined || Date.parse(expires) > world.clock.now()) throw askPerson(call)
  const asked = { id: approval_id, block: block.index, block_id: block.id, on_timeout: 'reject' } as const
  const expired = await expireApproval(world, run, asked)
  if (expired === undefined) throw askPerson(call)
  return answerFrom(call, ask, expired)
}

/** undefined: nobody has answered yet, or nobody was asked. */
async function findAnswer(call: BlockCall, ask: OpenQuestion): Promise<PersonAnswer | undefined> {
  const approval = call.head.approvals[ask.approval_id]
  return approval === undefined || approval.status === 'pending' ? undefined : answerFrom(call, ask, approval)
}

async function answerFrom(
  call: BlockCall,
  { approval_id }: OpenQuestion,
  approval: HeadApproval,
): Promise<PersonAnswer> {
  if (approval.status === 'expired') {
    return { kind: 'no', code: 'ask_expired', reason: `nobody answered before ${approval.expires_at}` }
  }
  const words = await wordsOf(call, approval)
  if (approval.status === 'approved') return { kind: 'yes', approval_id, approval, words }
  const told = words === '' ? '' : `: ${words}`
  return { kind: 'no', code: 'ask_rejected', reason: shortRedacted(`${earlierDecisionWords(approval)}${told}`) }
}

/** What the person wrote, as far as a reason has room for it; the whole text lies in the object store. */
async function wordsOf({ world, run }: BlockCall, { feedback_ref }: HeadApproval): Promise<string> {
  if (feedback_ref === undefined) return ''
  return shortRedacted(Buffer.from(await world.objects.get(run.tenant, feedback_ref)).toString('utf8'))
}

/**
 * The call as it goes on where a person said yes in the middle of its attempt; the same one where nobody was asked.
 * undefined: the block state has to end the attempt, or to wait, first.
 */
export async function resumeIfAnsweredYes(call: BlockCall): Promise<BlockCall | undefined> {
  const ask = await findQuestion(call)
  if (ask === undefined) return call
  const yes = await findAnswer(call, ask)
  const isDone = ask.about === 'post_gates' || ask.events.some(({ type }) => type === 'block:output')
  return yes?.kind !== 'yes' || isDone ? undefined : { ...call, resumed: { ask, yes } }
}
