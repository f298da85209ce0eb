import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Isolated } from '../../shared/ports/isolate.ts'
import {
  type IsolateEngine,
  type Job,
  OUT_OF_MEMORY,
  OUT_OF_TIME,
  type Reply,
  type TimedJob,
} from './isolate-messages.ts'

/** A child that says nothing for so long never will: a broken installation, not a program's doing. */
const START_MS = 30_000

/** However long others keep the machine busy: a job that computes `ms` at most has this many as long on the clock. */
const PATIENCE = 10

const WORKER = new URL('./worker.ts', import.meta.url)

/** One child process with its memory limit. It does one job at a time and dies of the first that runs over. */
export interface IsolateChild {
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
  const child = fork(fileURLToPath(worker), [engine, String(mb)], {
    execArgv: [
      `--max-old-space-size=${mb}`,
      '--permission',
      ...ownFiles(fileURLToPath(worker)).map((path) => `--allow-fs-read=${path}`),
      '--allow-worker',
      ...FLAGS[engine],
    ],
    // Dates are told the same wherever the machine stands.
    env: engine === 'gate' ? { TZ: 'UTC' } : {},
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
  // What is not of its context a gate finds frozen, should it find a way there.
  gate: ['--disallow-code-generation-from-strings', '--frozen-intrinsics'],
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

/** V8 out of memory aborts; some of its checks trap instead. */
const ABORTS: readonly (NodeJS.Signals | null)[] = [OUT_OF_MEMORY, 'SIGTRAP', 'SIGILL']

const ABORT_CODE = 134

function exitFailure(code: number | null, signal: NodeJS.Signals | null, mb: number): Failure {
  if (signal === OUT_OF_TIME) return failure('time', 'it ran out of time')
  if (ABORTS.includes(signal) || code === ABORT_CODE) return failure('memory', `it needed more than ${mb} MB`)
  return failure('error', `the isolate stopped (${signal ?? code})`)
}

type Failure = Extract<Isolated, { readonly ok: false }>

type Message = Reply | { readonly ready: true }

interface State {
  readonly child: ChildProcess
  alive: boolean
  /** Ends what is being waited for now: the start, or the one job. */
  finish: ((outcome: Message | Failure) => void) | undefined
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

function failure(because: Failure['because'], message: string): Failure {
  return { ok: false, because, message }
}
