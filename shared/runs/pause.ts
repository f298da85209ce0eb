import type { RunEvent } from './event.ts'
import type { Head, HeadApproval, Paused } from './head.ts'
import { readOrdinal } from './lane.ts'
import type { LaneStands } from './run-store.ts'

export const PAUSE_LANE = 'pause'

/** As `claimed` and `completed` of other lanes. */
const [BEGUN, OVER] = [10, 90]

/** Of the nth pause, from 1. */
export function pauseOrdinal(n: number, phase: 'begun' | 'over'): number {
  return n * 1_000 + (phase === 'begun' ? BEGUN : OVER)
}

/** How often the run was paused, the present time included. HEAD with lane `pause`. */
export function pausesSoFar({ lanes }: Pick<Head, 'lanes'>): number {
  const { epoch, attempt } = readOrdinal(lanes[PAUSE_LANE] ?? 0)
  return epoch * 1_000 + attempt
}

/** What an append asks that begins something: nobody has paused the run, or let it go on, since HEAD was read. */
export function samePause({ lanes }: Pick<Head, 'lanes'>): LaneStands {
  return { lane: PAUSE_LANE, is: lanes[PAUSE_LANE] ?? null }
}

/** Under which the task tokens lie that wait for the end of the nth pause; no wait of a block has such an id. */
export function pauseWait(n: number): string {
  return `${PAUSE_LANE}/${n}`
}

/** The run's own clock: it stands while the run is paused. Milliseconds since 1970. */
export function runClock({ paused }: Pick<Head, 'paused'>, now: number): number {
  return paused === undefined ? now : Math.min(now, Date.parse(paused.since))
}

/** Milliseconds that the run stood paused between `from` (ISO time) and `now`, by its events of pauses. */
export function stoodSince(events: readonly RunEvent[], from: string, now: number): number {
  let stood = 0
  let since: string | undefined
  const overlap = (begun: string, end: number) => Math.max(0, end - Math.max(Date.parse(begun), Date.parse(from)))
  for (const { type, at } of events) {
    if (type === 'run:paused') since = at
    if (type !== 'run:resumed' || since === undefined) continue
    stood += overlap(since, Date.parse(at))
    since = undefined
  }
  return since === undefined ? stood : stood + overlap(since, now)
}

/** A time moved on by what the run stood. */
export function movedBy(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString()
}

/** A question that is open, once its run has stood for so long. */
export function movedQuestion(was: HeadApproval, ms: number): HeadApproval {
  const next = was.next_at === undefined ? {} : { next_at: movedBy(was.next_at, ms) }
  return { ...was, expires_at: movedBy(was.expires_at, ms), ...next }
}

interface Timed {
  readonly requested_at: string
  readonly expires_at: string
}

/** What was asked, with its times as HEAD has them: they moved on by what its run stood. */
export function withTimesOf<T extends Timed>(item: T, now: Pick<HeadApproval, 'expires_at'> | undefined): T {
  const stood = now === undefined ? 0 : Date.parse(now.expires_at) - Date.parse(item.expires_at)
  if (stood === 0) return item
  return { ...item, requested_at: movedBy(item.requested_at, stood), expires_at: movedBy(item.expires_at, stood) }
}

/** As the stores keep it: one text. */
export function pausedText(paused: Paused): string {
  const { since, by, person, reason, parent } = paused
  return JSON.stringify({ since, by, person, reason, parent })
}
