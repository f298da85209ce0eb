import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Isolate, IsolateCaller, Isolated, IsolateKind } from '../../shared/ports/isolate.ts'
import { ENGINE_OF, type IsolateEngine, type Job, OUT_OF_TIME, type Reply, type TimedJob } from './isolate-messages.ts'

/** Limits of one job that says nothing else. */
const DEFAULT_LIMIT = { ms: 1_000, mb: 64 }

/** Children at most: more than there are cores would only run each other out of time. */
const MAX_CHILDREN = Math.max(1, Math.min(4, availableParallelism()))

/**
 * The Isolate port on child processes, one engine each (isolate-messages.ts). Children stay warm and are reused; one that ran over is killed and the next
 * job gets a new one. A job's time is what its child computes, so neither start-up nor a
 * queue nor a busy machine is charged. Idle children never keep the process alive. `worker` is their program where it is
 * not the source beside this file (a bundle).
 */
export function createIsolate(worker?: URL): Isolate & { close(): Promise<void> } {
  const pool: Pool = { idle: [], busy: new Set(), turns: createTurns(MAX_CHILDREN), closed: false, worker }
  return {
    run: (kind, data, limit = DEFAULT_LIMIT, caller = NOBODY) => runInPool(pool, { kind, data, limit, caller }),
    close: async () => close(pool),
  }
}

interface Pool {
  /** Longest idle first. */
  readonly idle: IsolateChild[]
  readonly busy: Set<IsolateChild>
  readonly turns: Turns
  closed: boolean
  readonly worker: URL | undefined
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
    const child = childFor(pool, ENGINE_OF[kind], limit.mb)
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

/** A warm child of that engine and limit, else a new one in the place of the one idle longest. */
function childFor(pool: Pool, engine: IsolateEngine, mb: number): IsolateChild {
  const warm = pool.idle.findIndex((child) => child.alive() && child.engine === engine && child.mb === mb)
  const [known] = warm < 0 ? [] : pool.idle.splice(warm, 1)
  const child = known ?? startChild(engine, mb, pool.worker)
  pool.busy.add(child)
  child.hold(true)
  if (pool.idle.length + pool.busy.size > MAX_CHILDREN) pool.idle.shift()?.end()
  return child
}

function giveBack(pool: Pool, child: IsolateChild): void {
  pool.busy.delete(child)
  if (!child.alive() || pool.closed) return
  child.hold(false)
  pool.idle.push(child)
}

function close(pool: Pool): void {
  pool.closed = true
  for (const child of [...pool.idle.splice(0), ...pool.busy]) child.end()
}

/** So many may work at once; the others wait, and tenants take turns. */
interface Turns {
  /** Resolves with true when it is the caller's turn; with false when its signal aborted before: then it has none. */
  take(caller: IsolateCaller): Promise<boolean>
  /** Ends a turn that was taken for this tenant. */
  give(tenant: string): void
}

/**
 * What becomes free goes to the waiting tenant that holds least, those that hold as much take turns, first come first
 * served within one. So no tenant takes the last slot while one waits that has none, and whoever has few jobs waits for
 * one of another's at most: each job has a limit. Alone, a tenant may have all places. Tenants without a job are forgotten.
 */
export function createTurns(most: number): Turns {
  /** By tenant, the one whose turn is next first. */
  const waiting = new Map<string, Waiting[]>()
  const held = new Map<string, number>()
  let taken = 0
  const heldBy = (tenant: string) => held.get(tenant) ?? 0
  const next = (): void => {
    while (taken < most) {
      const least = Math.min(...[...waiting.keys()].map(heldBy))
      const turn = [...waiting].find(([tenant]) => heldBy(tenant) === least)
      if (turn === undefined) return
      const [tenant, jobs] = turn
      const job = jobs.shift()
      // To the end of the line, or out of it.
      waiting.delete(tenant)
      if (jobs.length > 0) waiting.set(tenant, jobs)
      if (job === undefined) continue
      taken += 1
      held.set(tenant, heldBy(tenant) + 1)
      job.begin()
    }
  }
  return {
    take({ tenant, signal }) {
      if (signal?.aborted === true) return Promise.resolve(false)
      return new Promise((resolve) => {
        const leave = (): void => {
          const left = waiting.get(tenant)?.filter((other) => other !== job) ?? []
          if (left.length > 0) waiting.set(tenant, left)
          else waiting.delete(tenant)
          resolve(false)
        }
        const job: Waiting = {
          begin: () => {
            signal?.removeEventListener('abort', leave)
            resolve(true)
          },
        }
        signal?.addEventListener('abort', leave, { once: true })
        waiting.set(tenant, [...(waiting.get(tenant) ?? []), job])
        next()
      })
    },
    give(tenant) {
      taken -= 1
      if (heldBy(tenant) > 1) held.set(tenant, heldBy(tenant) - 1)
      else held.delete(tenant)
      next()
    },
  }
}

interface Waiting {
  begin(): void
}

/** A child that says nothing for so long never will: a broken installation, not a program's doing. */
const START_MS = 30_000

/** However long others keep the machine busy: a job that computes `ms` at most has this many as long on the clock. */
const PATIENCE = 10

const WORKER = new URL('./worker.ts', import.meta.url)

/** One child process with its memory limit. It does one job at a time and dies of the first that runs over. */
interface IsolateChild {
  readonly engine: IsolateEngine
  readonly mb: number
  readonly alive: () => boolean
  /** Resolves with undefined when it can take a job, else with the reason why it never will. */
  readonly started: Promise<Isolated | undefined>
  run(job: Job, ms: number): Promise<Isolated>
  /** An idle child does not keep our process alive, a busy one does. */
  hold(busy: boolean): void
  end(): void
}

/**
 * Starts a child for jobs of one engine with a heap of `mb` MB. A process and no worker thread: a thread's limit is
 * checked between allocations, and one large enough (JSONata's `[1..9999999]`, measured on Node 24.21) aborts the
 * whole process. It gets no environment, may read its own program alone, and may neither write files nor start programs;
 * worker.ts takes its network away before the first job.
 */
export function startChild(engine: IsolateEngine, mb: number, worker = WORKER): IsolateChild {
  const child = fork(fileURLToPath(worker), [engine], {
    execArgv: [
      `--max-old-space-size=${mb}`,
      '--permission',
      ...ownFiles(fileURLToPath(worker)).map((path) => `--allow-fs-read=${path}`),
      '--allow-worker',
      ...FLAGS[engine],
    ],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  })
  const state: State = { child, alive: true, finish: undefined }
  const die = (why: Failure): void => {
    state.alive = false
    state.finish?.(why)
  }
  child.on('message', (message: Message) => state.finish?.(message))
  child.on('error', (cause) => die(failure('error', `the isolate broke off: ${cause.message}`)))
  child.on('exit', (code, signal) => die(exitFailure(code, signal, mb)))
  return {
    engine,
    mb,
    alive: () => state.alive,
    started: start(state),
    run: (job, ms) => runJob(state, job, ms),
    hold: (busy) => hold(child, busy),
    end: () => end(state),
  }
}

/** What the program is made of: its sources or its bundle, the packages beside them, and the package's own description. */
function ownFiles(worker: string): readonly string[] {
  const folder = dirname(realpathSync(worker))
  const above = foldersAbove(folder)
  const root = above.find((path) => existsSync(join(path, 'package.json')))
  return [
    join(folder, '*'),
    ...(root === undefined
      ? []
      : ['package.json', join('functions', '*'), join('shared', '*')].map((path) => join(root, path))),
    ...above.flatMap((path) => packagesIn(join(path, 'node_modules'))),
  ]
}

/** What lies below a folder of packages, and where it really is when the folder is a link. */
function packagesIn(folder: string): readonly string[] {
  const real = existsSync(folder) ? realpathSync(folder) : folder
  return [...new Set([folder, real])].map((path) => join(path, '*'))
}

/** The folder itself first, the root of the file system last. */
function foldersAbove(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)]
}

/** Nothing makes code from text, whatever constructor a program gets hold of, but the schema validator, which has to. */
const FLAGS: Readonly<Record<IsolateEngine, readonly string[]>> = {
  transform: ['--disallow-code-generation-from-strings'],
  schema: [],
  data: ['--disallow-code-generation-from-strings'],
}

type Failure = Extract<Isolated, { readonly ok: false }>
type Message = Reply | { readonly ready: true }

interface State {
  readonly child: ChildProcess
  alive: boolean
  /** Ends what is being waited for now: the start, or the one job. */
  finish: ((outcome: Message | Failure) => void) | undefined
}

async function start(state: State): Promise<Failure | undefined> {
  const slow = failure('error', `the isolate did not start within ${START_MS} ms`)
  const outcome = await next(state, START_MS, slow)
  if ('ready' in outcome) return undefined
  end(state)
  return 'because' in outcome ? outcome : slow
}

async function runJob(state: State, job: Job, ms: number): Promise<Isolated> {
  const overrun = failure('time', `it ran longer than ${ms} ms`)
  const pending = next(state, ms * PATIENCE, overrun)
  send(state, { ...job, ms })
  const outcome = await pending
  if (outcome === overrun) end(state)
  if ('text' in outcome) return { ok: true, value: JSON.parse(outcome.text) }
  if ('because' in outcome) return outcome.because === 'time' ? overrun : outcome
  return failure('error', 'message' in outcome ? outcome.message : 'the isolate gave no answer')
}

function send(state: State, job: TimedJob): void {
  try {
    // A write that fails means that the child is gone: its exit says why.
    state.child.send(job, () => undefined)
  } catch (cause) {
    // What is no data (a function, say) cannot be sent: the contract is to answer, not to throw.
    state.finish?.(failure('error', cause instanceof Error ? cause.message : String(cause)))
  }
}

/** The child's next message, its death, or `overrun` after ms. */
function next(state: State, ms: number, overrun: Failure): Promise<Message | Failure> {
  return new Promise((resolve) => {
    const finish = (outcome: Message | Failure): void => {
      clearTimeout(timer)
      // A late timer of this wait must not end the one that follows it.
      if (state.finish === finish) state.finish = undefined
      resolve(outcome)
    }
    // A blocked event loop sees the timer before a reply that has long been there: setImmediate lets the reply in first.
    const timer = setTimeout(() => setImmediate(() => finish(overrun)), ms)
    if (state.alive) state.finish = finish
    else finish(failure('error', 'the isolate stopped'))
  })
}

function hold(child: ChildProcess, busy: boolean): void {
  const channel = child.channel
  if (busy) {
    child.ref()
    channel?.ref()
  } else {
    child.unref()
    channel?.unref()
  }
}

function end(state: State): void {
  state.alive = false
  state.child.kill('SIGKILL')
}

/** V8 out of memory aborts; some of its checks trap instead. */
const ABORTS: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL']
const ABORT_CODE = 134

function exitFailure(code: number | null, signal: NodeJS.Signals | null, mb: number): Failure {
  if (signal === OUT_OF_TIME) return failure('time', 'it ran out of time')
  if (ABORTS.includes(signal) || code === ABORT_CODE) return failure('memory', `it needed more than ${mb} MB`)
  return failure('error', `the isolate stopped (${signal ?? code})`)
}

function failure(because: Failure['because'], message: string): Failure {
  return { ok: false, because, message }
}
