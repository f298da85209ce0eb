import type { RunEvent, StoredValue } from './event.ts'
import { type Draft, stepKey } from './fold-draft.ts'
import { readOrdinal } from './ordinal.ts'
import type { BlockFold, StepFold } from './run-fold.ts'

const UNSEEN: BlockFold = { state: 'pending', attempt: 0, epoch: 0, gates: [], tokens_in: 0, tokens_out: 0 }

/** Changes the block an event names; an event of a run without a block changes none. */
export function changeBlock(draft: Draft, { block_id }: RunEvent, change: Partial<BlockFold>): void {
  if (block_id === undefined) return
  const { due_at: _, ...block } = draft.blocks.get(block_id) ?? UNSEEN
  draft.blocks.set(block_id, { ...block, ...change })
}

/** The block at the attempt of this event: what belonged to an earlier attempt is forgotten, what it cost is not. */
export function enterAttempt(draft: Draft, event: RunEvent): BlockFold {
  const { epoch, attempt } = placeOf(event)
  const block = draft.blocks.get(event.block_id ?? '') ?? UNSEEN
  if (epoch < block.epoch || (epoch === block.epoch && attempt <= block.attempt)) return block
  const { tokens_in, tokens_out, usd_micros, state } = block
  const spent = { tokens_in, tokens_out, ...(usd_micros === undefined ? {} : { usd_micros }) }
  const since = epoch === block.epoch && block.started_at !== undefined ? { started_at: block.started_at } : {}
  const entered: BlockFold = { state, attempt, epoch, gates: [], ...since, ...spent }
  if (event.block_id !== undefined) draft.blocks.set(event.block_id, entered)
  return entered
}

/** One entry a block, epoch and attempt: an attempt that is said to have started twice is one. */
export function startStep({ steps, positions }: Draft, event: RunEvent): void {
  const { seq: started_seq, at: started_at, block_id } = event
  if (block_id === undefined) return
  const attempt = { block_id, ...placeOf(event) }
  const key = stepKey(attempt)
  if (positions.has(key)) return
  positions.set(key, steps.length)
  steps.push({ index: steps.length + 1, ...attempt, state: 'running', started_seq, started_at })
}

export function outputStep(draft: Draft, event: RunEvent, outputs: Readonly<Record<string, StoredValue>>): void {
  const output_ref = firstRef(outputs)
  if (output_ref !== undefined) changeStep(draft, event, { output_ref })
}

export function endStep(draft: Draft, event: RunEvent, state: StepFold['state']): void {
  changeStep(draft, event, { state, ended_seq: event.seq, ended_at: event.at })
}

/** Of the first port by name: the order of a JSON object's members says nothing. */
export function firstRef(outputs: Readonly<Record<string, StoredValue>>): string | undefined {
  const [port] = Object.keys(outputs).sort()
  return port === undefined ? undefined : outputs[port]?.ref
}

function changeStep({ steps, positions }: Draft, event: RunEvent, change: Partial<StepFold>): void {
  const position = positions.get(stepKey({ block_id: event.block_id ?? '', ...placeOf(event) }))
  const step = position === undefined ? undefined : steps[position]
  if (position !== undefined && step?.state === 'running') steps[position] = { ...step, ...change }
}

/** Epoch and attempt stand in the event's id, `<lane>/<ordinal>/<i>`. */
function placeOf({ id, attempt }: RunEvent): { readonly epoch: number; readonly attempt: number } {
  const place = readOrdinal(Number(id.split('/')[1]))
  return { epoch: place.epoch, attempt: attempt ?? place.attempt }
}
