import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { FromSandbox, SandboxData, ToSandbox } from './sandbox-messages.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A function as the template describes it. */
export interface FunctionTemplate {
  readonly name: string
  /** URL of its bundle. */
  readonly index: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly streams: boolean
  /** The time of the test, where it has one. */
  readonly time?: VirtualTime | undefined
}

export interface Sandboxes {
  /** Answers what the function answered as JSON; throws an error with its name and message. */
  invoke(event: unknown, listen?: (message: FromSandbox) => void): Promise<unknown>
  /** The next invocation whose event fits ends with its sandbox after that many answers of AWS. */
  crash(fits: (event: unknown) => boolean, afterAnswers: number): void
  /** How many sandboxes were started, how many crashed, how many invocations there were, and how long the longest took. */
  readonly counts: Readonly<Record<'started' | 'crashed' | 'invoked' | 'longest_ms', number>>
  /** Invocations that have begun and not ended, those that wait for a sandbox among them. */
  underWay(): number
  readonly logs: readonly string[]
  close(): Promise<void>
}

/** Lambda would start as many sandboxes as it gets calls; this machine has few cores, so further calls wait. */
const MAX_SANDBOXES = 4

/**
 * The sandboxes of one function: threads with an environment of their own, one invocation at a time each, warm ones
 * first. Not as on Lambda: a thread is not frozen between invocations, and a crash leaves the process alive.
 */
export function createSandboxes(template: FunctionTemplate): Sandboxes {
  const idle: Worker[] = []
  const all = new Set<Worker>()
  const waiting: (() => void)[] = []
  const crashes: { readonly fits: (event: unknown) => boolean; readonly after: number }[] = []
  const counts = { started: 0, crashed: 0, invoked: 0, longest_ms: 0 }
  const now = template.time?.clock.now ?? Date.now
  let underWay = 0
  const logs: string[] = []
  let turns = 0
  const take = async () => {
    while (turns >= MAX_SANDBOXES) await new Promise<void>((resolve) => waiting.push(resolve))
    turns += 1
    const warm = idle.pop()
    if (warm !== undefined) return warm
    counts.started += 1
    const worker = await startWorker(template, logs)
    all.add(worker)
    worker.once('exit', () => {
      all.delete(worker)
      if (idle.includes(worker)) idle.splice(idle.indexOf(worker), 1)
    })
    return worker
  }
  return {
    counts,
    underWay: () => underWay,
    logs,
    crash: (fits, after) => crashes.push({ fits, after }),
    async invoke(event, listen = () => {}) {
      counts.invoked += 1
      underWay += 1
      const began = now()
      try {
        const worker = await take()
        const planned = crashes.findIndex(({ fits }) => fits(event))
        const [crash] = planned < 0 ? [] : crashes.splice(planned, 1)
        const served = await serve(worker, template, event, listen, crash?.after)
        if (served.alive) idle.push(worker)
        else counts.crashed += 1
        if ('error' in served) throw served.error
        return JSON.parse(served.text)
      } finally {
        underWay -= 1
        counts.longest_ms = Math.max(counts.longest_ms, now() - began)
        turns -= 1
        waiting.shift()?.()
      }
    },
    async close() {
      await Promise.all([...all].map((worker) => worker.terminate()))
    },
  }
}

/** What became of an invocation, and whether its sandbox can serve another one. */
type Served = { readonly alive: true; readonly text: string } | { readonly alive: boolean; readonly error: Error }

function functionError(name: string, message: string, stack = ''): Error {
  return Object.assign(new Error(message), { name, stack })
}

async function startWorker({ index, env, streams, time }: FunctionTemplate, logs: string[]): Promise<Worker> {
  // A disk of its own.
  const TMPDIR = mkdtempSync(join(tmpdir(), 'sluice-sandbox-'))
  const worker = new Worker(new URL('./sandbox-worker.ts', import.meta.url), {
    // A bundle is compiled once in a run of tests: of two thousand starts each takes a third of a second without.
    env: { ...env, TMPDIR, NODE_COMPILE_CACHE: join(process.env.SLUICE_TEST_SHARED ?? TMPDIR, 'compiled') },
    workerData: { index, streams, ahead: time?.ahead } satisfies SandboxData,
    execArgv: [],
    stdout: true,
    stderr: true,
  })
  for (const output of [worker.stdout, worker.stderr]) {
    output.setEncoding('utf8')
    output.on('data', (text: string) => logs.push(text))
  }
  worker.setMaxListeners(0)
  worker.once('exit', () => rmSync(TMPDIR, { recursive: true, force: true }))
  await once(worker, 'message')
  return worker
}

function serve(
  worker: Worker,
  { name, timeoutMs }: FunctionTemplate,
  event: unknown,
  listen: (message: FromSandbox) => void,
  crashAfter: number | undefined,
): Promise<Served> {
  return new Promise((resolve) => {
    const done = (served: Served) => {
      clearTimeout(timer)
      worker.off('message', onMessage)
      worker.off('exit', onExit)
      worker.off('error', onExit)
      resolve(served)
    }
    const onMessage = (message: FromSandbox) => {
      listen(message)
      if (message.kind === 'answer') done({ alive: true, text: message.text })
      if (message.kind === 'error') {
        done({ alive: true, error: functionError(message.name, message.message, message.stack) })
      }
    }
    const onExit = () => {
      const why = `RequestId: ${request.request_id} Error: Runtime exited`
      done({ alive: false, error: functionError('Runtime.ExitError', why) })
    }
    const timer = setTimeout(() => {
      const why = `${name}: Task timed out after ${(timeoutMs / 1_000).toFixed(2)} seconds`
      done({ alive: false, error: functionError('Sandbox.Timedout', why) })
      void worker.terminate()
    }, timeoutMs)
    const request: ToSandbox = {
      event,
      request_id: randomUUID(),
      remaining_ms: timeoutMs,
      ...(crashAfter === undefined ? {} : { crash_after: crashAfter }),
    }
    worker.on('message', onMessage)
    worker.once('exit', onExit)
    worker.once('error', onExit)
    worker.postMessage(request)
  })
}
