import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Clock, Log } from '../../shared/ports/host.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { createRetention } from './retention.ts'

interface SweepParts {
  /** Milliseconds between two sweeps. */
  readonly ms: number
  /** Calls the function. */
  readonly sweep: () => Promise<unknown>
  /** Calls the one that removes machines nothing needs. */
  readonly clear: () => Promise<unknown>
  readonly settings: Settings
  readonly db: DatabaseSync
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

/** Sweeps the runs that are due; each hour what is older than the retention, and machines. Answers how to stop. */
export function startSweeps({ ms, sweep, clear, settings, db, clock, log }: SweepParts): () => Promise<void> {
  const folder = join(settings.data_dir, 'objects')
  const { retention_days } = settings.safety
  const retain = createRetention({ db, folder, retention_days, log })
  const stops = [
    startSweep(ms, sweep, log),
    startSweep(RETENTION_MS, () => retain(clock.now()), log),
    startSweep(RETENTION_MS, clear, log),
  ]
  return async () => {
    for (const stop of stops) await stop()
  }
}

/** The first time an hour after the start: a place that is opened for one command has other things to do. */
const RETENTION_MS = 3_600_000

/** Calls `sweep` each `ms`, never two at a time. Answers how to stop: it waits for one under way. */
function startSweep(ms: number, sweep: () => Promise<unknown>, log: Log): () => Promise<void> {
  let underWay: Promise<void> | undefined
  const timer = setInterval(() => {
    underWay ??= sweep()
      .then(
        () => {},
        (error: unknown) => log.error('sweep failed', { error: String(error) }),
      )
      .finally(() => {
        underWay = undefined
      })
  }, ms)
  // A place that is only used in-process must not keep the process alive by looking.
  timer.unref()
  return async () => {
    clearInterval(timer)
    await underWay
  }
}
