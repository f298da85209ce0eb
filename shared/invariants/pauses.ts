import type { EventData, RunEvent } from '../runs/event.ts'
import type { Head } from '../runs/head.ts'
import { stoodSince } from '../runs/pause.ts'
import { defineInvariant } from './invariant.ts'

export const pauses = defineInvariant({
  n: 54,
  title: 'while a run is paused nothing of it begins, and what it stood counts for none of its deadlines',
  of: 'log',
  needs: ['events', 'head'],
  check: ({ events, head }) => [
    ...orderOfPauses(events),
    ...startsWhilePaused(events),
    ...deadlineProblems(events),
    ...runDeadlineProblems(events, head),
  ],
})

/** A pause ends once, and tells since when it stood and for how long. */
function orderOfPauses(events: readonly RunEvent[]): readonly string[] {
  let open: RunEvent | undefined
  return events.flatMap((event) => {
    const before = open
    if (event.type === 'run:paused') {
      open = event
      return before === undefined ? [] : [`event ${event.seq} pauses what event ${before.seq} paused`]
    }
    if (event.type !== 'run:resumed') return []
    open = undefined
    if (before === undefined) return [`event ${event.seq} lets go on what is not paused`]
    const stood = Math.max(0, Date.parse(event.at) - Date.parse(before.at))
    const isTold = event.data.since === before.at && event.data.stood_ms === stood
    return isTold ? [] : [`event ${event.seq} tells another time than it stood, ${stood} ms since ${before.at}`]
  })
}

const BEGINS: ReadonlySet<RunEvent['type']> = new Set(['block:started', 'block:resumed', 'approval:requested'])

function startsWhilePaused(events: readonly RunEvent[]): readonly string[] {
  let paused = false
  return events.flatMap((event) => {
    if (event.type === 'run:paused') paused = true
    if (event.type === 'run:resumed') paused = false
    if (!paused) return []
    if (BEGINS.has(event.type)) return [`event ${event.seq} (${event.type}) begins while the run is paused`]
    return isByTime(event) ? [`event ${event.seq} (${event.type}) comes of a time that stands still`] : []
  })
}

function isByTime(event: RunEvent): boolean {
  if (event.type === 'run:cancelled') return event.data.code === OVERDUE
  return event.type === 'approval:expired' || (event.type === 'block:woken' && event.data.by === 'time')
}

const OVERDUE = 'max_run_duration_exceeded'

/** That of a run which was queued begins later, perhaps after a pause. */
function runDeadlineProblems(
  events: readonly RunEvent[],
  { deadline_at }: Pick<Head, 'deadline_at'>,
): readonly string[] {
  const [start] = events
  if (start?.type !== 'run:started' || start.data.queued === true) return []
  const stood = events.reduce((sum, { type, data }) => sum + (type === 'run:resumed' ? data.stood_ms : 0), 0)
  const least = Date.parse(start.data.deadline_at) + stood
  const early = least - Date.parse(deadline_at)
  return early > 0 ? [`its deadline is ${deadline_at}, ${early} ms before that of its start and what it stood`] : []
}

/** What ended by its time was open for as long as it says, and longer by what the run stood. */
function deadlineProblems(events: readonly RunEvent[]): readonly string[] {
  const asked = new Map<string, { readonly at: string; readonly data: EventData<'approval:requested'> }>()
  return events.flatMap((event) => {
    if (event.type === 'approval:requested') asked.set(event.data.approval_id, event)
    if (event.type !== 'approval:expired') return []
    const open = asked.get(event.data.approval_id)
    if (open === undefined) return []
    const until = Date.parse(open.data.expires_at) + stoodSince(before(events, event), open.at, 0)
    const early = until - Date.parse(event.at)
    return early > 0 ? [`event ${event.seq} ends a question ${early} ms before its time, with what its run stood`] : []
  })
}

function before(events: readonly RunEvent[], { seq }: RunEvent): readonly RunEvent[] {
  return events.filter((event) => event.seq < seq)
}
