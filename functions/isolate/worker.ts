import { Worker } from 'node:worker_threads'
import { oneSentence } from '../../shared/gates/one-sentence.ts'
import { closeEscapes } from './close-escapes.ts'
import type { Engine, Job, Reply, Work } from './isolate-messages.ts'

/**
 * The child process of isolate-child.ts: loads its engine (argv), says it is ready, then answers one job
 * after the other. Its heap is bounded by V8's flag and its time by being killed.
 */
ignoreTerminal()
watchParent()
const engine = await loadEngine(process.argv[2] as Engine)
closeEscapes()
process.on('message', (job: Job) => {
  void answer(job).then((reply) => process.send?.(reply))
})
process.send?.({ ready: true })

/** Ctrl-C reaches every process of a terminal; this one ends with its parent, so that a job under way is not a failure. */
function ignoreTerminal(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  process.on('disconnect', () => process.exit(0))
}

/** A program that never yields would not see its parent die; a thread of its own does, and leaves no process behind. */
function watchParent(): void {
  const watch =
    "const parent = process.ppid; setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL') }, 1000)"
  new Worker(watch, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref()
}

async function loadEngine(name: Engine): Promise<Work> {
  // Only one: a transform that broke out of JSONata would still not stand beside a verdict.
  if (name === 'transform') return (await import('./transform-engine.ts')).transform
  if (name === 'data') return (await import('./data-engine.ts')).readData
  return (await import('./schema-engine.ts')).workUnderSchema
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
  return oneSentence(`${code}${String(cause.message)}${at}`)
}
