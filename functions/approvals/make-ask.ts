import { approvalDigest } from '../../shared/runs/approval-rules.ts'
import type { EventData } from '../../shared/runs/event.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { failedGates } from '../blocks/failed-gates.ts'
import { askedInputs } from '../blocks/judge-pre.ts'
import type { OpenAsk } from '../blocks/open-ask.ts'
import { allEvents } from '../runs/all-events.ts'
import { askWords } from './ask-words.ts'
import { bindNow } from './decision-binding.ts'
import { questionChanges } from './question-changes.ts'
import { shownValues } from './shown-values.ts'

/** Seconds, as an approval has that says nothing. */
const TIMEOUT_SEC = 1_800

/**
 * What a person is asked in the middle of an attempt: made of what is recorded, so that whoever asks asks the same. Who
 * may decide on the block's dispatch decides on this; without an approval of its own, who decides in this deployment.
 */
export async function makeAsk(call: BlockCall, ask: OpenAsk): Promise<ApprovalItem> {
  const { world, dag, block } = call
  const { approval_id: id, about } = ask
  const asked = await firstAsked(call, id)
  const gates = failedGates(block, ask)
  const raise = about === 'budget' ? asked?.raise : undefined
  const shown = await shownAbout(call, ask)
  const prompt = askWords({ block: block.id, about, gates, reason: asked?.reason ?? '', raise })
  const whole = dag.blocks[block.index] ?? block
  const policy = whole.approval
  const { binding_ref, binding } = await bindNow({ ...call, block: whole })
  const now = world.clock.now()
  return {
    id,
    block: block.index,
    block_id: block.id,
    prompt,
    shown,
    digest: approvalDigest({ prompt, shown, block_hash: block.hash, binding }),
    binding_ref,
    ...(await questionChanges(call)),
    requested_at: new Date(now).toISOString(),
    expires_at: new Date(now + TIMEOUT_SEC * 1_000).toISOString(),
    on_timeout: 'reject',
    approvers: policy?.approvers ?? [],
    self_approval: policy?.self_approval ?? true,
    about,
    ...(gates.length === 0 ? {} : { gates }),
    ...(raise === undefined ? {} : { raise }),
  }
}

/** Items of a block share a question: it is that of the first of them. */
async function firstAsked({ world, run }: BlockCall, id: string): Promise<EventData<'block:asked'> | undefined> {
  const events = await allEvents(world, run)
  const first = events.find((event) => event.type === 'block:asked' && event.data.approval_id === id)
  return first?.type === 'block:asked' ? first.data : undefined
}

/** The inputs that were refused, or the outputs that are published if the gates are waived. */
async function shownAbout(call: BlockCall, ask: OpenAsk): Promise<ApprovalItem['shown']> {
  if (ask.about === 'post_gates') return ask.projection.outputs ?? {}
  return ask.about === 'pre_gates' ? shownValues(call, [], (await askedInputs(call, ask)).values) : {}
}
