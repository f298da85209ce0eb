import { Fault } from '../errors.ts'
import type { RunEvent, UsedByCalls } from './event.ts'
import { eventRow, isRunEnd } from './event-types.ts'
import { changeBlock, closeDraft, type Draft, endStep, noteStepOutput, openDraft, startStep } from './fold-draft.ts'
import { eventPosition, type ItemFold, type RunFold } from './run-fold.ts'
import { unpricedTokens, usedByEvent } from './usage-cost.ts'

const NOTHING: RunFold = { seq: 0, state: 'running', blocks: {}, steps: [], approvals: {}, tokens: 0 }

/**
 * Folds events, ascending by seq, into the run's view; `start` is an earlier fold to go on from. An event that was
 * folded before changes nothing; one too many ahead is Fault Bug event_gap, since the view would be wrong without
 * saying so. Types this version does not know count as seen. Linear in the events, plus the blocks of `start`.
 */
export function foldRun(events: readonly RunEvent[], start: RunFold = NOTHING): RunFold {
  const draft = openDraft(start)
  for (const event of events) foldEvent(draft, event)
  return closeDraft(draft)
}

function foldEvent(draft: Draft, event: RunEvent): void {
  if (event.seq <= draft.seq) return
  if (event.seq > draft.seq + 1) {
    const message = `Cannot fold run "${event.run_id}": event ${event.seq} follows event ${draft.seq}. Read the events between them first.`
    throw new Fault('Bug', 'event_gap', message, { facts: { have: draft.seq, got: event.seq } })
  }
  draft.seq = event.seq
  foldCost(draft, event)
  const { item } = eventPosition(event)
  if (draft.run.queued === true && isUnderWay(event)) leaveQueue(draft)
  if (item === undefined) eventRow(event)?.fold?.(draft, event)
  else foldItem(draft, event, item)
}

function isUnderWay({ block_id, type }: RunEvent): boolean {
  return block_id !== undefined || type.startsWith('research:') || isRunEnd(type)
}

function leaveQueue(draft: Draft): void {
  const { queued: _, ...run } = draft.run
  draft.run = run
}

/** An event of one item of a foreach block: it moves the item and its steps, not the block. */
function foldItem(draft: Draft, event: RunEvent, item: number): void {
  if (event.type === 'block:started') startStep(draft, event)
  if (event.type === 'block:output') {
    noteStepOutput(draft, event, event.data.outputs)
  }
  const now = itemAfter(event)
  if (now === undefined) return
  if (STEP_ENDS.has(now.state)) endStep(draft, event, now.state === 'completed' ? 'completed' : 'failed')
  const items = draft.blocks.get(event.block_id ?? '')?.items ?? {}
  const tool = toolOf(event) ?? items[item]?.tool
  changeBlock(draft, event, { items: { ...items, [item]: { ...now, ...(tool === undefined ? {} : { tool }) } } })
}

function toolOf(event: RunEvent): string | undefined {
  return event.type === 'block:started' ? event.data.call?.use : undefined
}

const STEP_ENDS: ReadonlySet<string> = new Set(['completed', 'retrying', 'failed'])

/** The item after this event; undefined when the event does not move it. */
function itemAfter(event: RunEvent): ItemFold | undefined {
  const state = eventRow(event)?.item
  if (state === undefined) return undefined
  const { attempt } = eventPosition(event)
  if (event.type === 'block:waiting') return { state, attempt, waits: true }
  if (event.type !== 'block:retrying' && event.type !== 'block:failed') return { state, attempt }
  const { code, reason } = event.data
  return { state, attempt, error: { code, reason } }
}

/** What an attempt cost is the block's and the run's, whatever became of it. */
function foldCost(draft: Draft, event: RunEvent): void {
  const cost = usedByEvent(event)
  if (cost === undefined) return
  const { tokens_in, tokens_out } = cost
  const block = draft.blocks.get(event.block_id ?? '')
  changeBlock(draft, event, {
    tokens_in: (block?.tokens_in ?? 0) + tokens_in,
    tokens_out: (block?.tokens_out ?? 0) + tokens_out,
    ...priceWith(block, cost),
  })
  const { run } = draft
  draft.run = { ...run, tokens: run.tokens + tokens_in + tokens_out, ...priceWith(run, cost) }
}

type Price = Pick<RunFold, 'usd_micros' | 'unpriced_tokens'>

function priceWith(before: Price | undefined, cost: UsedByCalls): Price {
  const unpriced = unpricedTokens(cost)
  return {
    ...(cost.usd_micros === undefined ? {} : { usd_micros: (before?.usd_micros ?? 0) + cost.usd_micros }),
    ...(unpriced === 0 ? {} : { unpriced_tokens: (before?.unpriced_tokens ?? 0) + unpriced }),
  }
}
