import { decidedWords } from '../../shared/runs/approval-rules.ts'
import type { HeadApproval } from '../../shared/runs/head.ts'
import { expireApproval } from '../approvals/expire-approval.ts'
import { askPerson } from './ask-person.ts'
import type { BlockCall } from './block-call.ts'
import type { OpenAsk } from './open-ask.ts'
import { shortText } from './short-text.ts'

/** What a person made of a question in the middle of an attempt. */
export type Answer =
  | { readonly kind: 'yes'; readonly approval_id: string; readonly approval: HeadApproval; readonly words: string }
  | { readonly kind: 'no'; readonly code: 'ask_rejected' | 'ask_expired'; readonly reason: string }

/** Read from HEAD, never from state input. Nobody has answered: AskPerson; an expiry the sweeper missed is recorded here. */
export async function readAnswer(call: BlockCall, ask: OpenAsk): Promise<Answer> {
  const answer = await givenAnswer(call, ask)
  if (answer !== undefined) return answer
  const { approval_id } = ask
  const { world, run, block, head } = call
  const expires = head.approvals[approval_id]?.expires_at
  if (expires === undefined || Date.parse(expires) > world.clock.now()) throw askPerson(call)
  const asked = { id: approval_id, block: block.index, block_id: block.id, on_timeout: 'reject' } as const
  const expired = await expireApproval(world, run, asked)
  if (expired === undefined) throw askPerson(call)
  return answerOf(call, ask, expired)
}

/** undefined: nobody has answered yet, or nobody was asked. */
export async function givenAnswer(call: BlockCall, ask: OpenAsk): Promise<Answer | undefined> {
  const approval = call.head.approvals[ask.approval_id]
  return approval === undefined || approval.status === 'pending' ? undefined : answerOf(call, ask, approval)
}

async function answerOf(call: BlockCall, { approval_id }: OpenAsk, approval: HeadApproval): Promise<Answer> {
  if (approval.status === 'expired') {
    return { kind: 'no', code: 'ask_expired', reason: `nobody answered before ${approval.expires_at}` }
  }
  const words = await wordsOf(call, approval)
  if (approval.status === 'approved') return { kind: 'yes', approval_id, approval, words }
  const told = words === '' ? '' : `: ${words}`
  return { kind: 'no', code: 'ask_rejected', reason: shortText(`${decidedWords(approval)}${told}`) }
}

/** What the person wrote, as far as a reason has room for it; the whole text lies in the object store. */
async function wordsOf({ world, run }: BlockCall, { feedback_ref }: HeadApproval): Promise<string> {
  if (feedback_ref === undefined) return ''
  return shortText(Buffer.from(await world.objects.get(run.tenant, feedback_ref)).toString('utf8'))
}
