import type { Clock } from '../shared/ports/host.ts'

const LOOK_MS = 500

/** One dispatch under watch. `look` never rejects. */
export interface Watcher {
  /** ms since 1970 at which it must be looked at. */
  readonly due: number
  look(now: number): Promise<void>
}

/** The watchers of one clock that share a round; it ends by itself when nobody is left. */
interface Round {
  readonly watchers: Set<Watcher>
  running: boolean
}

const rounds = new WeakMap<Clock, Round>()

/**
 * Looks at a watcher each 500 ms and when it is due, until the answered function is called. All dispatches of a process
 * share one timer (a timer and an abort signal for each cost as much as a small dispatch); only one that is due sooner
 * than the next look has a round of its own.
 */
export function watchDispatch(clock: Clock, watcher: Watcher): () => void {
  const shared = rounds.get(clock) ?? { watchers: new Set(), running: false }
  rounds.set(clock, shared)
  const round = watcher.due - clock.now() < LOOK_MS ? { watchers: new Set<Watcher>(), running: false } : shared
  round.watchers.add(watcher)
  if (!round.running) void goRound(clock, round)
  return () => round.watchers.delete(watcher)
}

async function goRound(clock: Clock, round: Round): Promise<void> {
  round.running = true
  while (round.watchers.size > 0) {
    const due = Math.min(...[...round.watchers].map((watcher) => watcher.due))
    await clock.delay(Math.max(0, Math.min(LOOK_MS, due - clock.now())))
    const now = clock.now()
    await Promise.all([...round.watchers].map((watcher) => watcher.look(now)))
  }
  round.running = false
}
