import { Fault } from '../../shared/errors.ts'
import { LEASE_MS } from '../record/projections.ts'
import { type Watcher, watchDispatch } from '../watch-dispatch.ts'
import type { BlockCall } from './block-call.ts'
import { writeKeptClaim } from './claim-with-end.ts'

const RENEW_MS = 10_000

interface Attempt {
  readonly holder: string
  readonly timeout_ms: number
  /** The host's own signal: this process gives up (not a verdict about the block). */
  readonly signal: AbortSignal | undefined
}

/**
 * Runs one dispatch under watch: each 500 ms it looks for a stop of the run or of the block, every 10 s it renews the lease, and after
 * timeout_ms it aborts (a retryable failure). A dispatch that ignores its signal is left behind; its result is fenced.
 */
export async function watchAttempt<T>(
  call: BlockCall,
  attempt: Attempt,
  dispatch: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  attempt.signal?.throwIfAborted()
  const over = new AbortController()
  const aborted = Promise.withResolvers<never>()
  const giveUp = (why: unknown) => {
    over.abort(why)
    aborted.reject(why)
  }
  const hostGivesUp = () => giveUp(attempt.signal?.reason)
  attempt.signal?.addEventListener('abort', hostGivesUp, { once: true })
  const leave = watchDispatch(call.world.clock, watcherOf(call, attempt, giveUp))
  try {
    return await Promise.race([dispatch(over.signal), aborted.promise])
  } finally {
    attempt.signal?.removeEventListener('abort', hostGivesUp)
    leave()
    aborted.promise.catch(() => undefined)
  }
}

/** Work beside a dispatch: its signal aborts when the run or the block is stopped, and with the host. */
export async function whileRunning<T>(call: BlockCall, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  const leave = watchDispatch(call.world.clock, {
    due: Number.POSITIVE_INFINITY,
    async look() {
      const { world, run, block } = call
      const stopped = await world.runs.stopped(run, block.index).catch((error: unknown) => lookAgain(call, error))
      if (stopped === true) over.abort(stoppedRun(call))
    },
  })
  try {
    return await work(call.host === undefined ? over.signal : AbortSignal.any([call.host, over.signal]))
  } finally {
    leave()
  }
}

function watcherOf(call: BlockCall, attempt: Attempt, giveUp: (why: Fault) => void): Watcher {
  const { clock } = call.world
  const started = clock.now()
  let renewed = started
  return {
    due: started + attempt.timeout_ms,
    async look(now) {
      if (now >= started + attempt.timeout_ms) return giveUp(timedOut(call, attempt.timeout_ms))
      const renew = now - renewed >= RENEW_MS
      const mine = await stillMine(call, attempt.holder, renew).catch((error: unknown) => lookAgain(call, error))
      if (mine === false) giveUp(stoppedRun(call))
      if (mine === true && renew) renewed = now
    },
  }
}

/** Whether the run goes on and, when the lease is to be renewed, the attempt is still this holder's. */
async function stillMine(call: BlockCall, holder: string, renew: boolean): Promise<boolean> {
  const { world, run, block, item } = call
  if (await world.runs.stopped(run, block.index)) return false
  // It takes longer than a moment: now it is told that it began. Whatever is refused, its end finds the same.
  await writeKeptClaim(call)
  if (!renew) return true
  const until = new Date(world.clock.now() + LEASE_MS).toISOString()
  return world.runs.renewLease(run, { block: block.index, ...(item === undefined ? {} : { item }) }, holder, until)
}

/** A store that cannot be read for a moment is no reason to throw an answer away: the record at the end is fenced. */
function lookAgain({ world, run, block }: BlockCall, error: unknown): undefined {
  world.log.error('a dispatch could not be watched', { ...run, block_id: block.id, error: String(error) })
}

function timedOut({ block }: BlockCall, timeoutMs: number): Fault {
  const message = `Block "${block.id}" was aborted: its dispatch took longer than timeout_ms ${timeoutMs}. Raise timeout_ms (at most 840000) or make the work smaller.`
  return new Fault('Unavailable', 'block_timeout', message)
}

function stoppedRun({ run }: BlockCall): Fault {
  return new Fault('Rejected', 'superseded', `Run "${run.run_id}" was stopped or this attempt superseded.`)
}
