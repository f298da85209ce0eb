import { availableParallelism } from 'node:os'
import type { Isolate, IsolateCaller, Isolated, IsolateKind } from '../../shared/ports/isolate.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { Json } from '../../shared/text/json.ts'
import { evaluateBounded } from './bounded-expression.ts'
import { type IsolateChild, startChild } from './isolate-child.ts'
import { ENGINE_OF, type IsolateEngine, type Job } from './isolate-messages.ts'
import { createTurns, type Turns } from './tenant-turns.ts'

/** Limits of one job that says nothing else. */
const DEFAULT_LIMIT = { ms: 1_000, mb: 64 }

/** Children at most: more than there are cores would only run each other out of time. */
const MAX_CHILDREN = Math.max(1, Math.min(4, availableParallelism()))

/**
 * The Isolate port on child processes, one engine each (isolate-messages.ts). Children stay warm and are reused; one that ran over is killed and the next
 * job gets a new one. A job's time is what its child computes, so neither start-up nor a
 * queue nor a busy machine is charged. An expression that can do little is evaluated right here. Idle children never keep the process alive. `worker` is their program where it is
 * not the source beside this file (a bundle).
 */
export function createIsolate(worker?: URL): Isolate & { close(): Promise<void> } {
  const pool: Pool = { idle: [], busy: new Set(), turns: createTurns(MAX_CHILDREN), closed: false, worker }
  return {
    async run(kind, data, limit = DEFAULT_LIMIT, caller = NOBODY) {
      const isHere = kind === 'transform' && !pool.closed && !hasStopped(caller)
      const text = isHere ? await evaluateBounded(data) : undefined
      if (text !== undefined) return { ok: true, value: JSON.parse(text) }
      return runInPool(pool, { kind, data, limit, caller })
    },
    close: async () => close(pool),
  }
}

interface Pool {
  /** Longest idle first. */
  readonly idle: OwnedChild[]
  readonly busy: Set<OwnedChild>
  readonly turns: Turns
  closed: boolean
  readonly worker: URL | undefined
}

interface OwnedChild extends IsolateChild {
  readonly owner: string
}

interface Asked {
  readonly kind: IsolateKind
  readonly data: Omit<Job, 'kind'>
  readonly limit: typeof DEFAULT_LIMIT
  readonly caller: IsolateCaller
}

/** Work of the place itself. */
const NOBODY: IsolateCaller = { tenant: '' }

const STOPPED: Isolated = { ok: false, because: 'stopped', message: 'it was stopped' }

async function runInPool(pool: Pool, { kind, data, limit, caller }: Asked): Promise<Isolated> {
  const { signal } = caller
  if (!(await pool.turns.take(caller))) return STOPPED
  try {
    if (pool.closed) return { ok: false, because: 'error', message: 'the isolate is closed' }
    // It may have stopped at the moment its turn came.
    if (hasStopped(caller)) return STOPPED
    const child = childFor(pool, ENGINE_OF[kind], limit.mb, ownerOf(kind, data.program, caller))
    const stop = () => child.end()
    signal?.addEventListener('abort', stop, { once: true })
    const result =
      (await child.started) ?? (await child.run({ kind, program: data.program, input: data.input }, limit.ms))
    signal?.removeEventListener('abort', stop)
    giveBack(pool, child)
    return hasStopped(caller) && !result.ok ? STOPPED : result
  } finally {
    pool.turns.give(caller.tenant)
  }
}

function hasStopped({ signal }: IsolateCaller): boolean {
  return signal?.aborted === true
}

/** Code of a project has children of its own, one module and one tenant each: whatever it left there is seen by nobody else. */
function ownerOf(kind: IsolateKind, program: Json, { tenant }: IsolateCaller): string {
  return ENGINE_OF[kind] === 'gate' ? `${tenant} ${sha256(String(program))}` : ''
}

/** A warm child of that engine, limit and owner, else a new one in the place of the one idle longest. */
function childFor(pool: Pool, engine: IsolateEngine, mb: number, owner: string): OwnedChild {
  const fits = (child: OwnedChild) => child.engine === engine && child.mb === mb && child.owner === owner
  const warm = pool.idle.findIndex((child) => child.alive() && fits(child))
  const [known] = warm < 0 ? [] : pool.idle.splice(warm, 1)
  const child = known ?? { ...startChild(engine, mb, pool.worker), owner }
  pool.busy.add(child)
  child.hold(true)
  if (pool.idle.length + pool.busy.size > MAX_CHILDREN) pool.idle.shift()?.end()
  return child
}

function giveBack(pool: Pool, child: OwnedChild): void {
  pool.busy.delete(child)
  if (!child.alive() || pool.closed) return
  child.hold(false)
  pool.idle.push(child)
}

function close(pool: Pool): void {
  pool.closed = true
  for (const child of [...pool.idle.splice(0), ...pool.busy]) child.end()
}
