import type { RunKey } from './run-store.ts'

/** A run that waits for a place among the active ones; `at` ISO time, its rank. */
export interface QueuedRun extends RunKey {
  readonly at: string
}

/** Runs that were started over the cap with `safety.queue: true`: they exist, and wait for a lease. */
export interface RunQueue {
  enqueue(queued: QueuedRun): Promise<void>
  /** Oldest first. */
  queued(tenant: string, limit: number): Promise<readonly QueuedRun[]>
  dequeue(queued: QueuedRun): Promise<void>
  /**
   * ONE conditional write on HEAD: it is queued no more, owes its start from now on, and its deadline counts from here.
   * false when it is not queued (any more) or has ended.
   */
  releaseQueued(
    run: RunKey,
    release: { readonly at: string; readonly deadline_at: string; readonly check_at: string },
  ): Promise<boolean>
}
