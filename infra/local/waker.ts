import type { Clock } from '../../shared/ports/host.ts'
import type { Append, LeasePool, RunKey, RunStore } from '../../shared/runs/run-store.ts'
import type { Waker } from '../../shared/world.ts'

/**
 * The waker of one process: it watches what is written through `store` and wakes who waits for that run, so that
 * nothing polls. Use the answered `runs` instead of the store itself.
 */
export function createWaker(store: RunStore, clock: Clock): { readonly waker: Waker; readonly runs: RunStore } {
  const readers: Waiting = new Map()
  const ends: Waiting = new Map()
  const claims: Waiting = new Map()
  /** Runs in which a slot became free while no claim was waiting: the claim that was just refused must not sleep. */
  const freed = new Set<string>()
  const runs: RunStore = {
    ...store,
    async append(append) {
      const done = await store.append(append)
      if (!done.ok) return done
      wakeAll(readers, keyOf(append.run))
      if (append.state !== undefined) wakeAll(ends, keyOf(append.run))
      wakeClaims(claims, freed, append)
      return done
    },
    async dropLease(pool, holder, until) {
      await store.dropLease(pool, holder, until)
      wakeFirst(claims, freed, keyOf(pool))
    },
    async putStop(run, block) {
      await store.putStop(run, block)
      wakeAll(readers, keyOf(run))
    },
  }
  const waker: Waker = {
    async changed(run, ms, signal) {
      await waitIn(readers, keyOf(run), clock, ms, signal)
    },
    async ended(run, ms, signal) {
      await waitIn(ends, keyOf(run), clock, ms, signal)
    },
    async slot(of, ms, signal) {
      if (!freed.delete(keyOf(of))) await waitIn(claims, keyOf(of), clock, ms, signal)
      return true
    },
  }
  return { waker, runs }
}

type Waiting = Map<string, Set<() => void>>

/** No run is called like a pool: `runs`, `provider/..`. */
function keyOf(of: RunKey | LeasePool): string {
  return `${of.tenant}/${'run_id' in of ? of.run_id : of.name}`
}

function wakeAll(waiting: Waiting, key: string): void {
  for (const wake of waiting.get(key) ?? []) wake()
}

/** One freed slot wakes the claim that waits longest; the end of the run wakes them all. */
function wakeClaims(claims: Waiting, freed: Set<string>, { run, end, state }: Append): void {
  const key = keyOf(run)
  if (state !== undefined && state !== 'running') {
    wakeAll(claims, key)
    freed.delete(key)
    return
  }
  if (end !== undefined) wakeFirst(claims, freed, key)
}

function wakeFirst(claims: Waiting, freed: Set<string>, key: string): void {
  const waiting = claims.get(key)
  const first = waiting?.values().next().value
  if (first === undefined) freed.add(key)
  else waiting?.delete(first)
  first?.()
}

/** A reason given is a DOMException not made. */
const WOKEN = new Error('woken')

async function waitIn(waiting: Waiting, key: string, clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const timer = new AbortController()
  const mine = waiting.get(key) ?? new Set()
  waiting.set(key, mine)
  const woken = Promise.withResolvers<void>()
  const stop = () => woken.reject(signal?.reason)
  mine.add(woken.resolve)
  signal?.addEventListener('abort', stop, { once: true })
  clock.delay(ms, timer.signal).then(woken.resolve, () => {})
  try {
    await woken.promise
  } finally {
    timer.abort(WOKEN)
    signal?.removeEventListener('abort', stop)
    mine.delete(woken.resolve)
    if (mine.size === 0 && waiting.get(key) === mine) waiting.delete(key)
  }
}
