import { Worker } from 'node:worker_threads'
import { safeOneLine } from '../../shared/text/redact.ts'
import { closeEscapes, closeProcess } from './close-escapes.ts'
import {
  type IsolateEngine,
  type Job,
  OUT_OF_MEMORY,
  OUT_OF_TIME,
  type Reply,
  type TimedJob,
  type Work,
} from './isolate-messages.ts'

/** What a process may grow by for each MB its heap may have: the heap, what V8 keeps beside it, and what no heap holds. */
const BYTES_A_MB = 3 * 1_048_576

/**
 * The child process of isolate-child.ts: loads its engine (argv), says it is ready, then answers one job
 * after the other. Its heap is bounded by V8's flag and its time by being killed (watch).
 */
ignoreTerminal()
const [, , name, mb] = process.argv
const watcher = watch(name === 'gate' ? Number(mb) : 0)
const engine = await loadEngine(name as IsolateEngine)
const send = process.send?.bind(process)
process.on('message', (job: TimedJob) => {
  watcher.postMessage(job.ms)
  void answer(job).then((reply) => {
    watcher.postMessage(0)
    send?.(reply)
  })
})
closeEscapes()
if (name === 'gate') closeProcess()
send?.({ ready: true })

/** Ctrl-C reaches every process of a terminal; this one ends with its parent, so that a job under way is not a failure. */
function ignoreTerminal(): void {
  const { exit } = process
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  process.on('disconnect', () => exit(0))
}

/**
 * A program that never yields sees neither its parent die nor its own time pass; a thread of its own does, and leaves no
 * process behind. Only what the process computes is counted: on a busy machine a job is not over because of others.
 * Where `mb` is no 0, so is what it takes outside its heap (arrays of bytes), which V8 does not bound.
 */
function watch(mb: number): Worker {
  const program = `
    const { parentPort } = require('node:worker_threads')
    const computed = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
    let parent = process.ppid, timer, rested
    setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL') }, 1000)
    parentPort.on('message', (ms) => {
      clearInterval(timer)
      if (ms === 0) return
      const [began, at] = [computed(), performance.now()]
      rested ??= process.memoryUsage.rss()
      const over = () => computed() - began >= ms && performance.now() - at >= ms
      const full = () => ${mb} > 0 && process.memoryUsage.rss() - rested > ${mb * BYTES_A_MB}
      timer = setInterval(() => {
        if (over()) process.kill(process.pid, '${OUT_OF_TIME}')
        if (full()) process.kill(process.pid, '${OUT_OF_MEMORY}')
      }, 10)
    })`
  const worker = new Worker(program, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8 } })
  worker.unref()
  return worker
}

async function loadEngine(name: IsolateEngine): Promise<Work> {
  // Only one: a transform that broke out of JSONata would still not stand beside a verdict.
  if (name === 'transform') return (await import('./transform-engine.ts')).runTransformJob
  if (name === 'gate') return (await import('./gate-engine.ts')).runGateJob
  if (name === 'data') return (await import('./table-and-text-engine.ts')).runDataJob
  return (await import('./schema-engine.ts')).runSchemaJob
}

async function answer(job: Job): Promise<Reply> {
  try {
    return { ok: true, text: await engine(job) }
  } catch (cause) {
    return { ok: false, message: messageOf(cause) }
  }
}

/** JSONata throws plain objects {code, message, position}, everything else an Error. */
function messageOf(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null || !('message' in cause)) return 'it failed without a message'
  const code = 'code' in cause && typeof cause.code === 'string' ? `${cause.code}: ` : ''
  const at = 'position' in cause && typeof cause.position === 'number' ? ` (at character ${cause.position})` : ''
  return safeOneLine(`${code}${String(cause.message)}${at}`)
}
