import { decisionFields, toVote } from './approval.ts'
import type { RunEnd, RunEvent, StoredValue } from './event.ts'
import type { RunState } from './head.ts'
import { movedBy } from './pause.ts'
import { NO_TRY } from './retry.ts'
import {
  type ApprovalFold,
  type BlockFold,
  eventPosition,
  type ItemFold,
  type RunFold,
  type StepFold,
} from './run-fold.ts'
import { questionItem } from './turns-and-calls.ts'

/** The fold while it is being made: maps, so that a block may have any name; entries are replaced, never changed. */
export interface Draft {
  seq: number
  run: Omit<RunFold, 'seq' | 'blocks' | 'steps' | 'approvals'>
  readonly blocks: Map<string, BlockFold>
  readonly steps: StepFold[]
  /** Block, item, epoch and attempt -> where the step stands in `steps`. */
  readonly positions: Map<string, number>
  readonly approvals: Map<string, ApprovalFold>
}

export function openDraft({ seq, blocks, steps, approvals, ...run }: RunFold): Draft {
  return {
    seq,
    run,
    blocks: new Map(Object.entries(blocks)),
    steps: [...steps],
    positions: new Map(steps.map((step, i) => [stepKey(step), i])),
    approvals: new Map(Object.entries(approvals)),
  }
}

export function closeDraft({ seq, run, blocks, steps, approvals }: Draft): RunFold {
  return { seq, ...run, blocks: Object.fromEntries(blocks), steps, approvals: Object.fromEntries(approvals) }
}

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { readonly type: T }>

/** A person was asked: the block waits. In the middle of an attempt it, or an item of it, waits since block:asked. */
export function openApproval(draft: Draft, event: EventOf<'approval:requested'>): void {
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
export function decideApproval(draft: Draft, event: EventOf<'approval:decided'>): void {
  const { data, at } = event
  const { waited_ms, feedback_ref, edits_ref, have, need, person, via, declared } = data
  const vote = toVote({ by: `${data.by.kind}:${data.by.id}`, person, via, declared }, at)
  const asked = draft.approvals.get(data.approval_id)
  if (asked?.status !== 'pending') return
  const isYes = data.decision !== 'reject'
  const votes = isYes && need > 1 ? { votes: [...(asked.votes ?? []), vote] } : {}
  if (isYes && have < need) {
    draft.approvals.set(data.approval_id, { ...asked, ...votes })
    return
  }
  closeApproval(draft, event, data.approval_id, {
    ...votes,
    status: isYes ? 'approved' : 'rejected',
    ...decisionFields(vote),
    waited_ms,
    ...(feedback_ref === undefined ? {} : { feedback_ref }),
    ...(edits_ref === undefined ? {} : { edits_ref }),
    ...whatFollows(data),
  })
}

function whatFollows({
  iterate,
  rest,
  stop,
}: EventOf<'approval:decided'>['data']): Pick<ApprovalFold, 'iterate' | 'rest' | 'stop'> {
  return {
    ...(iterate === undefined ? {} : { iterate }),
    ...(rest === undefined ? {} : { rest }),
    ...(stop === undefined ? {} : { stop }),
  }
}

/** It was decided or expired: the block goes on from here, or fails by an event of its own. */
export function closeApproval(draft: Draft, event: RunEvent, id: string, answer: Partial<ApprovalFold>): void {
  const asked = draft.approvals.get(id)
  if (asked?.status !== 'pending') return
  draft.approvals.set(id, { ...asked, ...answer })
  const block_id = event.block_id ?? asked.block_id
  const block = draft.blocks.get(block_id)
  if (block?.state === 'paused_approval') changeBlock(draft, { ...event, block_id }, { state: 'ready' })
  else if (block?.items !== undefined) changeBlock(draft, { ...event, block_id }, { items: released(block.items, id) })
}

/** Items of a list share the question of their block; a turn or call of an agent has its own. */
function released(items: Readonly<Record<string, ItemFold>>, id: string): Readonly<Record<string, ItemFold>> {
  const own = questionItem(id)
  const moved = Object.entries(items).map(([i, item]): [string, ItemFold] => [
    i,
    item.state === 'paused_approval' && (own === undefined || own === Number(i)) ? { ...item, state: 'ready' } : item,
  ])
  return Object.fromEntries(moved)
}

export function runningChange({
  data,
}: EventOf<'block:started' | 'block:resumed'>): Partial<BlockFold> & Pick<BlockFold, 'state'> {
  const { child, items } = data
  return {
    state: 'running',
    ...(child === undefined ? {} : { child }),
    ...itemsBegun(items),
  }
}

/** Of an agent nobody knows how many turns and calls there will be. */
export function itemsBegun(
  items: EventOf<'block:started'>['data']['items'],
): Pick<BlockFold, 'item_count' | 'first_turn'> {
  if (items === undefined) return {}
  return items.turn === undefined ? { item_count: items.count } : { first_turn: items.turn }
}

/** What a person waived stands in the place of what failed; its reason tells both. */
export function withVerdict(gates: BlockFold['gates'], verdict: BlockFold['gates'][number]): BlockFold['gates'] {
  const isSame = ({ gate, phase }: typeof verdict) => gate === verdict.gate && phase === verdict.phase
  const others = verdict.status === 'waived' ? gates.filter((one) => !isSame(one)) : gates
  return [...others, verdict]
}

export function foldOutput(draft: Draft, event: EventOf<'block:output'>): void {
  const { outputs, log } = event.data
  enterAttempt(draft, event)
  changeBlock(draft, event, { outputs, ...(log === undefined ? {} : { log }) })
  noteStepOutput(draft, event, outputs)
}

/** Stopped alone: its items, its attempts under way and what people were asked about it end with it. */
export function cancelBlock(draft: Draft, event: EventOf<'block:cancelled'>): void {
  const { block_id = '', seq, at, data } = event
  const { code, reason } = data
  const block = draft.blocks.get(block_id)
  if (block !== undefined) draft.blocks.set(block_id, cancelItems(block))
  changeBlock(draft, event, { state: 'cancelled', ended_at: at, error: { code, reason } })
  cancelSteps(draft, { seq, at }, (step) => step.block_id === block_id)
  for (const [id, approval] of draft.approvals) {
    if (approval.block_id === block_id && approval.status === 'pending') {
      draft.approvals.set(id, { ...approval, status: 'cancelled' })
    }
  }
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'skipped', 'cancelled'])

type EndFold = Pick<RunFold, 'code' | 'reason' | 'block_id' | 'next_run' | 'final_status' | 'row'>

/** It goes on after a pause: what people were asked stays open for as long as it stood. */
export function moveOn(draft: Draft, { data }: EventOf<'run:resumed'>): void {
  const { paused: _, ...run } = draft.run
  draft.run = { ...run, stood_ms: (run.stood_ms ?? 0) + data.stood_ms }
  for (const [id, approval] of draft.approvals) {
    if (approval.status !== 'pending') continue
    draft.approvals.set(id, { ...approval, expires_at: movedBy(approval.expires_at, data.stood_ms) })
  }
}

/** A terminal run event cancels whatever has not ended. */
export function endRun(draft: Draft, state: RunState, { seq, at, data }: EventOf<RunEnd>): void {
  const { spent: _, ...told } = data
  // A stored member is never undefined.
  const { paused: __, ...run } = draft.run
  draft.run = { ...run, state, ended_at: at, ...(told as EndFold) }
  for (const [id, { due_at: _, ...block }] of draft.blocks) {
    if (!ENDED.has(block.state)) draft.blocks.set(id, { ...cancelItems(block), state: 'cancelled', ended_at: at })
  }
  cancelSteps(draft, { seq, at }, () => true)
  for (const [id, approval] of draft.approvals) {
    if (approval.status === 'pending') draft.approvals.set(id, { ...approval, status: 'cancelled' })
  }
}

/**
 * Items that have not ended end with their block, and so do their attempts. Where too many others failed the rest says so:
 * what had begun is cancelled, what had not is skipped.
 */
export function endItems(draft: Draft, event: EventOf<'block:failed'>): void {
  const { block_id = '', seq, at, data } = event
  const block = draft.blocks.get(block_id)
  if (block !== undefined && data.code === ITEMS_FAILED.code) draft.blocks.set(block_id, giveUpItems(block))
  else if (block?.items !== undefined) draft.blocks.set(block_id, cancelItems(block))
  else return
  for (const [i, step] of draft.steps.entries()) {
    const isOpen = step.state === 'running' && step.block_id === block_id && step.item !== undefined
    if (isOpen) draft.steps[i] = { ...step, state: 'cancelled', ended_seq: seq, ended_at: at }
  }
}

/** Why an item is not dispatched any more, and the code of the failure of its block. */
const ITEMS_FAILED = { code: 'items_failed', reason: 'not dispatched any more: too many other items failed' } as const

function giveUpItems(block: BlockFold): BlockFold {
  const items = Array.from({ length: block.item_count ?? 0 }, (_, i): [string, ItemFold] => {
    const item = block.items?.[i]
    if (item === undefined) return [String(i), { state: 'skipped', attempt: 0, error: ITEMS_FAILED }]
    return [String(i), ENDED.has(item.state) ? item : { ...item, state: 'cancelled', error: ITEMS_FAILED }]
  })
  return items.length === 0 ? block : { ...block, items: Object.fromEntries(items) }
}

function cancelSteps(
  { steps }: Draft,
  { seq, at }: Pick<RunEvent, 'seq' | 'at'>,
  isMeant: (step: StepFold) => boolean,
): void {
  for (const [i, step] of steps.entries()) {
    if (step.state === 'running' && isMeant(step)) {
      steps[i] = { ...step, state: 'cancelled', ended_seq: seq, ended_at: at }
    }
  }
}

function cancelItems(block: BlockFold): BlockFold {
  if (block.items === undefined) return block
  const items = Object.entries(block.items).map(([i, item]): [string, ItemFold] => [
    i,
    ENDED.has(item.state) ? item : { ...item, state: 'cancelled' },
  ])
  return { ...block, items: Object.fromEntries(items) }
}

const UNSEEN: BlockFold = { state: 'pending', attempt: 0, epoch: 0, gates: [], tokens_in: 0, tokens_out: 0 }

/** Changes the block an event names; an event of a run without a block changes none. */
export function changeBlock(draft: Draft, { block_id }: RunEvent, change: Partial<BlockFold>): void {
  if (block_id === undefined) return
  // Each is of the moment alone.
  const { due_at: _, progress: __, ...block } = draft.blocks.get(block_id) ?? UNSEEN
  draft.blocks.set(block_id, { ...block, ...change })
}

/** The block at the attempt of this event: what belonged to an earlier attempt is forgotten, what it cost is not. */
export function enterAttempt(draft: Draft, event: RunEvent): BlockFold {
  const { epoch, attempt } = eventPosition(event)
  const block = draft.blocks.get(event.block_id ?? '') ?? UNSEEN
  if (epoch < block.epoch || (epoch === block.epoch && attempt <= block.attempt)) return block
  const { state } = block
  const entered: BlockFold = { state, attempt, epoch, gates: [], ...ofEpoch(block, epoch), ...spentBy(block) }
  if (event.block_id !== undefined) draft.blocks.set(event.block_id, entered)
  return entered
}

/** What stays from attempt to attempt of an epoch. */
function ofEpoch({ epoch, started_at, untried, first_turn, items }: BlockFold, now: number): Partial<BlockFold> {
  if (epoch !== now) return {}
  return {
    ...(started_at === undefined ? {} : { started_at }),
    ...(untried === undefined ? {} : { untried }),
    // An agent goes on with its transcript.
    ...(first_turn === undefined || items === undefined ? {} : { items }),
  }
}

/** What an attempt that failed for this reason adds to those that were no try. */
export function countUnchargedAttempt(
  draft: Draft,
  { block_id = '' }: RunEvent,
  code: string,
): Pick<BlockFold, 'untried'> {
  return NO_TRY.has(code) ? { untried: (draft.blocks.get(block_id)?.untried ?? 0) + 1 } : {}
}

/** A bounce puts a block back to its beginning; what it has cost stays. */
export function resetBlock(draft: Draft, id: string, epoch: number): void {
  const block = draft.blocks.get(id) ?? UNSEEN
  if (epoch > block.epoch) draft.blocks.set(id, { state: 'pending', attempt: 0, epoch, gates: [], ...spentBy(block) })
}

function spentBy({
  tokens_in,
  tokens_out,
  usd_micros,
  unpriced_tokens,
}: BlockFold): Pick<BlockFold, 'tokens_in' | 'tokens_out' | 'usd_micros' | 'unpriced_tokens'> {
  return {
    tokens_in,
    tokens_out,
    ...(usd_micros === undefined ? {} : { usd_micros }),
    ...(unpriced_tokens === undefined ? {} : { unpriced_tokens }),
  }
}

/** One entry a block, epoch and attempt: an attempt that is said to have started twice is one. */
export function startStep({ steps, positions }: Draft, event: RunEvent): void {
  const { seq: started_seq, at: started_at, block_id } = event
  if (block_id === undefined) return
  const attempt = { block_id, ...eventPosition(event) }
  const key = stepKey(attempt)
  if (positions.has(key)) return
  positions.set(key, steps.length)
  steps.push({ index: steps.length + 1, ...attempt, state: 'running', started_seq, started_at })
}

export function noteStepOutput(draft: Draft, event: RunEvent, outputs: Readonly<Record<string, StoredValue>>): void {
  const output_ref = outputRef(outputs)
  if (output_ref !== undefined) changeStep(draft, event, { output_ref })
}

export function endStep(draft: Draft, event: RunEvent, state: StepFold['state']): void {
  changeStep(draft, event, { state, ended_seq: event.seq, ended_at: event.at })
}

function changeStep({ steps, positions }: Draft, event: RunEvent, change: Partial<StepFold>): void {
  const position = positions.get(stepKey({ block_id: event.block_id ?? '', ...eventPosition(event) }))
  const step = position === undefined ? undefined : steps[position]
  if (position !== undefined && step?.state === 'running') steps[position] = { ...step, ...change }
}

function stepKey(step: Pick<StepFold, 'block_id' | 'epoch' | 'attempt' | 'item'>): string {
  return `${step.epoch}/${step.attempt}/${step.item ?? ''}/${step.block_id}`
}

/** The ref that stands for a block's output: the first port by name, since the order of JSON members says nothing. */
export function outputRef(outputs: Readonly<Record<string, StoredValue>>): string | undefined {
  const [port] = Object.keys(outputs).sort()
  return port === undefined ? undefined : outputs[port]?.ref
}
