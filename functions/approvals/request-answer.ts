import type { BlockCall } from '../blocks/block-call.ts'
import { isStale } from '../blocks/is-stale.ts'
import { openAsk } from '../blocks/open-ask.ts'
import { appendRequested } from './append-requested.ts'
import { makeAsk } from './make-ask.ts'

/**
 * `_ask_<id>`: asks a person about an attempt that waits for an answer, or joins the question that was asked already.
 * Whether the token now waits; it does not where the answer is there, or the attempt is not what it was.
 */
export async function requestAnswer(call: BlockCall, token: string): Promise<boolean> {
  const { world, run, head, lane_key, raw_lane } = call
  const ask = head.state === 'running' && !isStale(call) ? await openAsk(call) : undefined
  if (ask === undefined || raw_lane === null) return false
  const id = ask.approval_id
  const known = head.approvals[id] === undefined ? undefined : await world.runs.approval(run, id)
  const item = known ?? (await makeAsk(call, ask))
  // Token first, then HEAD; a decider writes HEAD first, then reads the tokens: one of the two sees the other.
  await world.runs.putApproval(run, item, token)
  // Somebody may have asked first: what is asked is what is stored.
  if (known === undefined) await appendRequested(call, (await world.runs.approval(run, id)) ?? item)
  const now = await world.runs.head(run, [lane_key])
  const isPending = now?.state === 'running' && now.approvals[id]?.status === 'pending'
  return isPending && now.lanes[lane_key] === raw_lane
}
