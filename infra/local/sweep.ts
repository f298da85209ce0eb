import type { Log } from '../../shared/world.ts'

/** Calls `sweep` each `ms`, never two at a time. Answers how to stop: it waits for one under way. */
export function startSweep(ms: number, sweep: () => Promise<unknown>, log: Log): () => Promise<void> {
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
