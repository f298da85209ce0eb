import * as z from 'zod'
import { approvalId } from '../../shared/runs/ids.ts'
import { type BlockCall, openBlockCall } from '../blocks/block-call.ts'
import { resumedCall } from '../blocks/resumed-call.ts'
import { functionHandler } from '../handler.ts'
import { MachineInputSchema, runOf } from '../runs/machine-input.ts'
import { appendRequested } from './append-requested.ts'
import { isAskable } from './is-askable.ts'
import { makeQuestion } from './make-question.ts'
import { requestAnswer } from './request-answer.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  block: z.string().min(1),
  token: z.string().min(1),
  e: z.int().min(0).optional(),
  item: z.int().min(0).optional(),
  /** `_ask_<id>`: about an attempt that waits for an answer. */
  ask: z.literal(true).optional(),
})

/**
 * `_approve_<id>`: asks a person about a block that would otherwise be dispatched now, and leaves the task token in the
 * store. A block that would be skipped or refused, or was decided on already, is not asked about: the token is answered
 * at once and the block state does the rest (docs/architecture.md, "Questions to people"). `_ask_<id>` calls it too.
 */
export const handler = functionHandler({
  name: 'request-approval',
  input: InputSchema,
  async run({ in: input, token, ask, ...place }, world) {
    const call = await openBlockCall(world, runOf(input), place)
    const waiting = ask === true ? await requestAnswer(call, token) : await requestApproval(call, token)
    if (!waiting) await world.machine.answer(token, { ok: {} })
    return {}
  },
})

async function requestApproval(call: BlockCall, token: string): Promise<boolean> {
  if (!(await isAskable(call))) return false
  // A question in the middle of its attempt comes before the one about its dispatch.
  const now = await resumedCall(call)
  return now !== undefined && askOnce(now, token)
}

/** Whether the token now waits for a decision. */
async function askOnce(call: BlockCall, token: string): Promise<boolean> {
  const { world, run, block, head, epoch } = call
  const id = approvalId(run.run_id, block.index, epoch)
  const known = await world.runs.approval(run, id)
  const item = head.approvals[id] === undefined ? await makeQuestion(call, id) : known
  if (item === undefined) return false
  // Token first, then HEAD; a decider writes HEAD first, then reads the token: one of the two sees the other.
  await world.runs.putApproval(run, item, token)
  // Somebody may have asked first: what is asked is what is stored.
  if (head.approvals[id] === undefined) await appendRequested(call, (await world.runs.approval(run, id)) ?? item)
  const now = await world.runs.head(run, [])
  return now?.state === 'running' && now.approvals[id]?.status === 'pending'
}
