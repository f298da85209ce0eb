import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:fs'
import { mkdtemp, open, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Fault } from '../../shared/errors.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import {
  STEP_LIMITS,
  type StepOrder,
  StepOrderSchema,
  type StepOutcome,
  type StepReport,
  type StepStart,
} from '../../shared/steps/step-order.ts'
import type { Json } from '../../shared/text/json.ts'
import { safeOneLine } from '../../shared/text/redact.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { jsonProblem, MAX_DEPTH } from '../../shared/text/strict-json.ts'
import { watchProcesses } from './process-tree.ts'
import { openStepLog, type StepLogBook } from './step-log.ts'
import { type FromStep, readMessages, type ToStep } from './step-messages.ts'
import {
  ATTEMPT_FOLDER,
  endContainer,
  killAll,
  removeFolder,
  type StepEquipment,
  startProcess,
  stepEnvironment,
} from './step-process.ts'

/** What following a step needs of its place. */
export interface StepFollower {
  readonly objects: Pick<ObjectStore, 'get' | 'put'>
  /** The program of a step's process, where it is not the source beside this file (a bundle). */
  readonly runner?: URL
  /** Between two looks whether the attempt goes on. */
  readonly look_ms: number
  equip(order: StepOrder): Promise<StepEquipment>
  /** Calls report-step; false: the attempt is no longer this one's. Throws when it cannot be asked. */
  report(report: StepReport): Promise<boolean>
  readonly now: () => number
  /** This process ends: the step is ended with it, and nothing is said of it. */
  readonly signal?: AbortSignal
}

/**
 * Does the work of one attempt of a step, from its begin to the answer of its token: the same in both places. The step
 * runs in a process of its own, which has nothing of this one's environment; whatever it does ends in an outcome. Where the
 * attempt is no longer this one's, the process is ended and nothing is said.
 */
export async function followStep(start: StepStart, place: StepFollower): Promise<void> {
  const { token } = start
  const report = (say: StepReport['say'], more: Pick<StepReport, 'progress' | 'outcome'> = {}) =>
    place.report({ place: start.place, token, say, ...more })
  if (!(await report('begin'))) return
  const order = StepOrderSchema.parse(await readJson(place, start))
  const outcome = await attempt(order, start, place, report)
  if (outcome === 'superseded') return
  const { ref } = await place.objects.put(start.place.tenant, Buffer.from(JSON.stringify(outcome)))
  await untilHeard(() => report('end', { outcome: ref }))
}

/** Tries to say what came of it, and seconds between two. */
const END_TRIES = 6
const END_WAIT_MS = 1_000

/** Work that is done is not lost because nobody listened for a moment: said twice it is the same. */
async function untilHeard(say: () => Promise<unknown>): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      await say()
      return
    } catch (error) {
      if (tried === END_TRIES) throw error
      await delay(END_WAIT_MS * tried)
    }
  }
}

async function readJson({ objects }: StepFollower, { place, order_ref }: StepStart): Promise<unknown> {
  return JSON.parse(Buffer.from(await objects.get(place.tenant, order_ref)).toString('utf8'))
}

type Report = (say: StepReport['say'], more?: Pick<StepReport, 'progress' | 'outcome'>) => Promise<boolean>
type Ended = Pick<StepOutcome, 'outputs' | 'failure'>

/** One attempt under way: what it said so far, and how it is ended. */
interface Work {
  readonly order: StepOrder
  readonly tenant: string
  readonly folder: string
  readonly place: StepFollower
  readonly log: StepLogBook
  readonly artifacts: StepOutcome['artifacts'][number][]
  stored: number
  usd: number | undefined
  progress: NonNullable<StepReport['progress']> | undefined
}

async function attempt(
  order: StepOrder,
  { place: { tenant }, order_ref }: StepStart,
  place: StepFollower,
  report: Report,
): Promise<StepOutcome | 'superseded'> {
  const began = place.now()
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-step-')))
  const log = openStepLog()
  const work: Work = {
    order,
    tenant,
    folder,
    place,
    log,
    artifacts: [],
    stored: 0,
    usd: undefined,
    progress: undefined,
  }
  try {
    const ended = await runProcess(work, report).catch((error: unknown): Ended => notStarted(error))
    if (ended === 'superseded') return ended
    return await outcomeOf(work, { order_ref, ...ended }, Math.max(0, place.now() - began))
  } finally {
    await removeFolder(folder)
  }
}

async function outcomeOf(
  work: Work,
  ended: Ended & Pick<StepOutcome, 'order_ref'>,
  latency_ms: number,
): Promise<StepOutcome> {
  const { order, place, tenant, log } = work
  const kept = log.close()
  const stored = kept === undefined ? undefined : await place.objects.put(tenant, kept.body)
  return {
    v: 1,
    key: order.key,
    ...ended,
    ...(work.usd === undefined ? {} : { usd: work.usd }),
    artifacts: work.artifacts,
    ...(kept === undefined || stored === undefined
      ? {}
      : { log: { ref: stored.ref, bytes: stored.bytes, ...kept.told } }),
    latency_ms,
    stored_bytes: work.stored + (stored?.bytes ?? 0),
  }
}

function failed(code: string, reason: string, retry: boolean): { readonly failure: NonNullable<Ended['failure']> } {
  return { failure: { code, reason: shortRedacted(reason), retry } }
}

/** A fault tells its own code: code that is not there any more, a secret that is missing. */
function notStarted(error: unknown): Ended {
  if (error instanceof Fault) return failed(error.code, error.message, error.name === 'Unavailable')
  return failed('step_not_started', `the step could not be started: ${String(error)}`, true)
}

/** Starts the process, hears it until its last word, and ends it with all it started. */
async function runProcess(work: Work, report: Report): Promise<Ended | 'superseded'> {
  const { order, folder } = work
  const equipment = await work.place.equip(order)
  work.log.hide(Object.values(equipment.secrets))
  const started = await startProcess(folder, equipment, { runner: work.place.runner })
  const { child, channel } = started
  const over = Promise.withResolvers<Ended | 'superseded'>()
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()))
  child.once('error', (error) => over.resolve(notStarted(error)))
  const tell = (message: ToStep) => void channel.write(`${JSON.stringify(message)}\n`)
  const abort = abortOnce(tell, over.resolve)
  // What it says after that comes too late, whatever it is.
  const resolve = (ended: Ended) => over.resolve(abort.as() ?? ended)
  const timer = setTimeout(
    () => abort.now(`it took longer than timeout_ms ${order.timeout_ms}`, timedOut(order)),
    order.timeout_ms,
  )
  const looking = lookAfter(work, report, () => abort.now('it was stopped', 'superseded'))
  const leave = () => over.resolve('superseded')
  work.place.signal?.addEventListener('abort', leave, { once: true })
  if (work.place.signal?.aborted === true) leave()
  const watch = watchProcesses(child.pid, equipment.memory_mb, (mb) => over.resolve(tooMuchMemory(mb, equipment)))
  void hear(work, channel, tell).then(resolve, (error: unknown) => {
    // It ended without having read all that it was told: how, its exit says.
    if (!isReset(error)) resolve(notStarted(error))
  })
  void closed.then(() => setTimeout(() => resolve(endedAlone(work, child)), 100))
  for (const stream of [child.stdout, child.stderr]) void work.log.follow(stream).catch(() => undefined)
  tell(runMessage(order, equipment, folder))
  const ended = await over.promise
  clearTimeout(timer)
  looking.stop()
  watch.stop()
  work.place.signal?.removeEventListener('abort', leave)
  await killAll(started, watch)
  await endContainer(equipment)
  await Promise.race([closed, delay(STEP_LIMITS.grace_ms)])
  if (ended !== 'superseded') await looking.idle()
  return ended
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}

/** Says it to the step once; two seconds later that is how it ended, whatever it does. */
function abortOnce(tell: (message: ToStep) => void, end: (ended: Ended | 'superseded') => void) {
  let told: Ended | 'superseded' | undefined
  return {
    now(reason: string, ended: Ended | 'superseded') {
      if (told !== undefined) return
      told = ended
      tell({ type: 'abort', reason })
      setTimeout(() => end(ended), STEP_LIMITS.grace_ms).unref()
    },
    /** How it ends, once it was told. */
    as: () => told,
  }
}

function timedOut({ timeout_ms }: StepOrder): Ended {
  const reason = `the step took longer than timeout_ms ${timeout_ms}. Raise timeout_ms, which the safety policy may have lowered, or make the work smaller`
  return failed('block_timeout', reason, true)
}

function tooMuchMemory(mb: number, { memory_mb }: StepEquipment): Ended {
  const reason = `the step used ${mb} MB of memory, and ${memory_mb} MB are allowed. Raise memory_mb under steps in the settings, or work on less at once`
  return failed('step_memory', reason, false)
}

/** What V8 writes on standard error before it ends a process whose heap is full, by SIGABRT. */
const HEAP_IS_FULL = 'heap out of memory'

function endedAlone({ log }: Work, { exitCode, signalCode }: ChildProcess): Ended {
  if (signalCode === 'SIGABRT' && log.holds(HEAP_IS_FULL)) {
    return failed(
      'step_memory',
      'the heap of the step is full. Raise memory_mb under steps in the settings, or work on less at once',
      false,
    )
  }
  const seen = signalCode === null ? `exit code ${exitCode}` : `signal ${signalCode}`
  return failed('step_crashed', `the process of the step ended with ${seen} before it had answered`, true)
}

function runMessage(order: StepOrder, { code, env, secrets }: StepEquipment, folder: string): ToStep {
  const { inputs, config, told_key: key = order.key, attempt, feedback } = order
  const message = { type: 'run', inputs, config, key, attempt, feedback, secrets } as const
  if ('module' in code) return message
  const program = {
    exec: code.exec.map((part) => part.replaceAll(ATTEMPT_FOLDER, folder)),
    cwd: code.cwd,
    ...(code.container === undefined ? {} : { container: { ...code.container, folder } }),
    // A program has no channel of its own: what it may know it finds in its environment.
    env: { ...stepEnvironment(folder), ...env, ...secrets },
    answer_bytes: STEP_LIMITS.answer_bytes,
    files: join(folder, 'files'),
    artifacts: join(folder, 'artifacts'),
  }
  return { ...message, program }
}

/** Hears the step until its last word. */
async function hear(work: Work, channel: Duplex, tell: (message: ToStep) => void): Promise<Ended> {
  let last: Ended | undefined
  for await (const message of readMessages(channel.setEncoding('utf8'))) {
    if (message.type === 'returned') last = returned(message.outputs)
    else if (message.type === 'threw') last = threw(work, message)
    else await heard(work, message, tell)
    if (last !== undefined) return last
  }
  // It closed its channel without a word: its exit says why.
  return new Promise<never>(() => undefined)
}

function returned(outputs: Readonly<Record<string, Json>>): Ended {
  // Its process has looked at it, unless it is not what wrote this: nothing here walks what nests without end.
  const deep = Object.entries(outputs).find(([, value]) => jsonProblem(value)?.code === 'json_too_deep')
  if (deep !== undefined) {
    return failed(
      'step_outputs',
      `what the step returned nests too deep: ${deep[0]}, more than ${MAX_DEPTH} levels`,
      true,
    )
  }
  const bytes = Buffer.byteLength(JSON.stringify(outputs))
  if (bytes > STEP_LIMITS.answer_bytes) {
    const reason = `what the step returned has ${bytes} bytes; at most ${STEP_LIMITS.answer_bytes} are allowed. Write large bodies as artifacts`
    return failed('step_answer', reason, false)
  }
  return { outputs }
}

function threw({ log, folder }: Work, message: Extract<FromStep, { type: 'threw' }>): Ended {
  if (message.stack !== undefined) log.add('error', message.stack.replaceAll(`${folder}/`, './'))
  const { failure } = failed(message.code, `the step: ${log.withoutHidden(message.message)}`, message.kind !== 'fail')
  const { after_ms } = message
  return { failure: after_ms === undefined ? failure : { ...failure, retry_after_ms: after_ms } }
}

type Aside = Exclude<FromStep, { type: 'returned' | 'threw' }>

async function heard(work: Work, message: Aside, tell: (message: ToStep) => void): Promise<void> {
  switch (message.type) {
    case 'log':
      return work.log.add(message.level, message.text)
    case 'progress':
      work.progress = progressOf(work, message)
      return
    case 'cost':
      if (message.usd !== null && message.usd >= 0) work.usd = message.usd
      return
    case 'write':
    case 'read': {
      const { id } = message
      const done = message.type === 'write' ? keepArtifact(work, message) : readObject(work, message)
      const answer = await done.then(
        (ok) => ({ ok }),
        (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
      )
      return tell({ type: 'done', id, ...answer })
    }
    case 'described':
      return
  }
}

function progressOf({ log }: Work, { fraction, note }: Extract<FromStep, { type: 'progress' }>): Work['progress'] {
  return {
    fraction: Math.min(1, Math.max(0, fraction ?? 0)),
    note: safeOneLine(log.withoutHidden(note), STEP_LIMITS.note_characters)
      .slice(0, STEP_LIMITS.note_characters)
      .toWellFormed(),
  }
}

/** Stores a file the step wrote. It lies in a folder of the attempt: a step names no other file of this machine. */
async function keepArtifact(work: Work, { name, file, media_type }: Extract<FromStep, { type: 'write' }>) {
  if (!/^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/.test(name) || name.includes('..')) {
    throw new Error(
      `an artifact cannot be named "${name}"; allowed are letters, digits, . _ / - (at most 200, no "..")`,
    )
  }
  const path = await realpath(file)
  if (!path.startsWith(work.folder + sep)) throw new Error('a file outside the folder of this attempt')
  const body = await readBody(path, (size) => roomProblem(work, name, size))
  const { ref, sha256, bytes } = await work.place.objects.put(work.tenant, body)
  work.stored += bytes
  work.artifacts.push({ name, ref, sha256, bytes, ...(media_type === undefined ? {} : { media_type }) })
  await rm(path, { force: true })
  return ref
}

function roomProblem({ order, stored, artifacts }: Work, name: string, size: number): string | undefined {
  if (size > STEP_LIMITS.artifact_bytes) {
    return `artifact "${name}" has ${size} bytes; at most ${STEP_LIMITS.artifact_bytes} are allowed`
  }
  const left = order.room_bytes - stored
  if (size > left) return `artifact "${name}" has ${size} bytes; the run may store ${Math.max(0, left)} more`
  if (artifacts.length < STEP_LIMITS.artifacts) return undefined
  return `at most ${STEP_LIMITS.artifacts} artifacts are kept of one attempt`
}

/** A pipe is nothing to wait for, and a link leads somewhere else by now. */
const REGULAR = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW

/** A file as long as it is now, even where somebody still writes it. */
async function readBody(path: string, problemOf: (size: number) => string | undefined): Promise<Uint8Array> {
  const opened = await open(path, REGULAR)
  try {
    const seen = await opened.stat()
    const problem = seen.isFile() ? problemOf(seen.size) : 'an artifact is a file, and this is none'
    if (problem !== undefined) throw new Error(problem)
    const body = new Uint8Array(seen.size)
    let at = 0
    for (let read = -1; read !== 0 && at < body.length; at += read) {
      read = (await opened.read(body, at, body.length - at)).bytesRead
    }
    return body.subarray(0, at)
  } finally {
    await opened.close()
  }
}

/** The body of an object, in a file that is new: what the step left under that name is nothing to write to. */
async function readObject({ place, tenant, folder }: Work, { id, ref }: Extract<FromStep, { type: 'read' }>) {
  const file = join(folder, 'files', `${id}.body`)
  await writeFile(file, await place.objects.get(tenant, ref), { flag: 'wx' })
  return file
}

/** As long as a claim is renewed with. */
const RENEW_MS = 10_000

/** Asks, from time to time, whether the attempt goes on, tells how far it is, and keeps the claim alive. */
function lookAfter(work: Work, report: Report, superseded: () => void) {
  const { place } = work
  let asking: Promise<unknown> = Promise.resolve()
  let busy = false
  let renewed = place.now()
  const look = async () => {
    const { progress } = work
    work.progress = undefined
    const isDue = progress !== undefined || place.now() - renewed >= RENEW_MS
    if (isDue) renewed = place.now()
    // Who cannot be asked for a moment is asked again: the end of an attempt is fenced.
    const told = progress === undefined ? {} : { progress }
    const goesOn = await report(isDue ? 'go_on' : 'look', told).catch(() => true)
    busy = false
    if (!goesOn) superseded()
  }
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    asking = look()
  }, place.look_ms)
  return { stop: () => clearInterval(timer), idle: () => asking }
}
