import type { TranscriptCall, TranscriptQuestion, TranscriptTurn } from '../api/transcript-route.ts'
import type { EventData, RunEvent } from '../runs/event.ts'
import { eventRow } from '../runs/event-types.ts'
import { approvalEpoch } from '../runs/ids.ts'
import { type ApprovalFold, eventPosition } from '../runs/run-fold.ts'
import type { BlockState } from '../runs/run-store-items.ts'
import { isRefused, questionItem, readAgentItem } from '../runs/turns-and-calls.ts'
import { usedIn } from './attempt.ts'

/** Events of the turns and calls of one pass of an agent, by item. */
export type ItemEvents = ReadonlyMap<number, readonly RunEvent[]>

export function eventsOfItems(events: readonly RunEvent[], block_id: string, pass: number): ItemEvents {
  const found = new Map<number, RunEvent[]>()
  for (const event of events) {
    if (event.block_id !== block_id || !/^(block|step):/.test(event.type)) continue
    const { item, epoch } = eventPosition(event)
    if (item === undefined || epoch !== pass) continue
    const own = found.get(item)
    if (own === undefined) found.set(item, [event])
    else own.push(event)
  }
  return found
}

/** The turns that have begun, in order. */
export function turnsIn(items: ItemEvents): readonly number[] {
  return [...new Set([...items.keys()].map((item) => readAgentItem(item).turn))].toSorted((a, b) => a - b)
}

type ItemView = Pick<
  TranscriptTurn,
  | 'item'
  | 'attempts'
  | 'started_at'
  | 'ended_at'
  | 'latency_ms'
  | 'tokens_in'
  | 'tokens_out'
  | 'usd'
  | 'unpriced_tokens'
  | 'error'
>

/** When an item began and ended, and what it used. */
export function viewItem(item: number, own: readonly RunEvent[]): ItemView {
  const started = own.find(({ type }) => type === 'block:started')
  const { latency_ms } = outputIn(own) ?? {}
  const end = own.findLast((event) => eventRow(event)?.item !== undefined || event.type === 'block:cancelled')
  return {
    item,
    attempts: Math.max(0, ...own.map((event) => eventPosition(event).attempt)),
    ...(started === undefined ? {} : { started_at: started.at }),
    ...(end === undefined || !ENDS.has(end.type) ? {} : { ended_at: end.at }),
    ...(latency_ms === undefined ? {} : { latency_ms }),
    ...usedIn(own),
    ...errorOf(end),
  }
}

const ENDS: ReadonlySet<string> = new Set(['block:completed', 'block:failed', 'block:cancelled'])

function errorOf(end: RunEvent | undefined): Pick<ItemView, 'error'> {
  if (end?.type !== 'block:failed' && end?.type !== 'block:retrying' && end?.type !== 'block:cancelled') return {}
  const { code, reason } = end.data
  return { error: { code, reason } }
}

/** The newest output of an item. */
export function outputIn(own: readonly RunEvent[]): EventData<'block:output'> | undefined {
  const output = own.findLast(({ type }) => type === 'block:output')
  return output?.type === 'block:output' ? output.data : undefined
}

export function startIn(own: readonly RunEvent[]): EventData<'block:started'> | undefined {
  const started = own.findLast(({ type }) => type === 'block:started')
  return started?.type === 'block:started' ? started.data : undefined
}

/** `isOver`: nothing of its block is under way any more. Whom nobody has answered waits. */
export function itemState(
  own: readonly RunEvent[],
  { isOver, asked }: { readonly isOver: boolean; readonly asked: readonly ApprovalFold[] },
): BlockState {
  const last = own.findLast((event) => eventRow(event)?.item !== undefined)
  const state = (last === undefined ? undefined : eventRow(last)?.item) ?? 'pending'
  if (state === 'completed' || state === 'failed') return state
  if (isOver) return 'cancelled'
  const isAnswered = !asked.some(({ status }) => status === 'pending') && asked.length > 0
  return state === 'paused_approval' && isAnswered ? 'running' : state
}

/** A call that a gate, a bound or a person refused is not one that failed. */
export function callState(
  state: BlockState,
  error: { readonly code: string; readonly reason: string } | undefined,
): TranscriptCall['state'] {
  if (isRefused({ state, error })) return 'refused'
  if (state === 'ready') return 'running'
  return state === 'skipped' ? 'cancelled' : state
}

/** The newest verdict of each gate. */
export function gatesIn(own: readonly RunEvent[]): TranscriptCall['gates'] {
  const newest = new Map<string, TranscriptCall['gates'][number]>()
  for (const event of own) {
    if (event.type !== 'block:gate') continue
    const { gate, type, phase, status, reason } = event.data
    newest.set(`${phase} ${gate}`, { gate, type, phase, status, reason })
  }
  return [...newest.values()]
}

/** What people were asked about an item of one pass, in order. */
export function questionsOf(
  approvals: Readonly<Record<string, ApprovalFold>>,
  { block_id, item, epoch }: { readonly block_id: string; readonly item: number; readonly epoch: number },
): readonly ApprovalFold[] {
  return Object.values(approvals).filter((one) => {
    const { approval_id: id } = one
    return one.block_id === block_id && questionItem(id) === item && approvalEpoch(id) === epoch
  })
}

/** With what a person said and changed, which events only refer to. */
export function viewQuestion(
  asked: ApprovalFold,
  said: Pick<TranscriptQuestion, 'feedback' | 'edits'>,
): TranscriptQuestion {
  const { approval_id, about = 'dispatch', status, requested_at, expires_at, votes } = asked
  const told = Object.fromEntries(DECIDED.flatMap((key) => (asked[key] === undefined ? [] : [[key, asked[key]]])))
  return {
    ...{ approval_id, about, status, requested_at, expires_at },
    ...(told as Pick<TranscriptQuestion, (typeof DECIDED)[number]>),
    ...said,
    ...(votes === undefined ? {} : { votes }),
  }
}

const DECIDED = ['decided_by', 'decided_person', 'decided_at', 'via', 'waited_ms', 'rest', 'stop'] as const
