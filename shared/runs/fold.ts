import { Fault } from '../errors.ts'
import type { RunEvent } from './event.ts'
import { eventPlace } from './event-place.ts'
import { foldCost } from './fold-cost.ts'
import { closeDraft, type Draft, openDraft } from './fold-draft.ts'
import { REDUCERS } from './fold-events.ts'
import { foldItem } from './fold-item.ts'
import { isRunEnd } from './is-run-end.ts'
import type { RunFold } from './run-fold.ts'

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
  const { item } = eventPlace(event)
  if (draft.run.queued === true && isUnderWay(event)) leaveQueue(draft)
  // A table of one function a type: the type of the event picks the one that takes it.
  const reduce = REDUCERS[event.type] as ((draft: Draft, event: RunEvent) => void) | undefined
  if (item === undefined) reduce?.(draft, event)
  else foldItem(draft, event, item)
}

function isUnderWay({ block_id, type }: RunEvent): boolean {
  return block_id !== undefined || type.startsWith('research:') || isRunEnd(type)
}

function leaveQueue(draft: Draft): void {
  const { queued: _, ...run } = draft.run
  draft.run = run
}
