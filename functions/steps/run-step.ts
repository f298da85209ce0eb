import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createReadStream, createWriteStream, openSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import * as z from 'zod'
import {
  type ArtifactBody,
  type StepArtifacts,
  type StepDefinition,
  stepOf,
} from '../../shared/steps/step-definition.ts'
import { STEP_LIMITS } from '../../shared/steps/step-order.ts'
import type { Json } from '../../shared/text/json.ts'
import { splitLines } from '../../shared/text/split-lines.ts'
import { problemOfOutputs } from './plain-json.ts'
import { killDescendants } from './process-tree.ts'
import type { FromStep, StepFailureCode, StepProgram, ToStep } from './step-messages.ts'

/**
 * The process of one attempt of a step: a module, named on its command line, or a program that it starts and speaks for.
 * It talks on descriptor 3 and ends when that is closed: who followed it is gone. Standard output and standard error are
 * the step's own.
 */
const channel = new Socket({ fd: 3 })
const [module = ''] = process.argv.slice(2)

type RunOrder = Extract<ToStep, { type: 'run' }>

const aborted = new AbortController()
const asked = new Map<number, PromiseWithResolvers<string>>()
let lastId = 0

type LogMessage = Extract<FromStep, { type: 'log' }>

/** What waits for the channel: lines, and words for the log, which may still grow. */
let waiting: (string | LogMessage)[] = []
/** The first of it that was not written yet. */
let first = 0
/** Messages of one write. A stream's own queue goes out in one, and of a million lines the system takes none (EINVAL). */
const AT_ONCE = 100
/** Characters of the log that wait and go as one message. */
const LOG_AT_ONCE = 65_536

function tell(message: FromStep): void {
  const last = waiting.at(-1)
  if (message.type !== 'log') waiting.push(JSON.stringify(message))
  else if (typeof last === 'object' && last.level === message.level && last.text.length < LOG_AT_ONCE) {
    waiting[waiting.length - 1] = { ...last, text: `${last.text}\n${message.text}` }
  } else waiting.push(message)
  writeWaiting()
}

/** At once, as long as the channel takes it: a step that never waits is heard while it works. */
function writeWaiting(): void {
  if (channel.writableLength > 0) return
  const now = waiting.slice(first, first + AT_ONCE)
  first += now.length
  if (first === waiting.length) [waiting, first] = [[], 0]
  const lines = now.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`)
  if (lines.length > 0) channel.write(lines.join(''), writeWaiting)
}

/**
 * Says the last word. Who hears it ends this process with all it started: one that ends by itself, with words to it unread,
 * takes its own last ones along (ECONNRESET).
 */
function finish(message: FromStep): void {
  tell(message)
}

/** With all that it started: what a step leaves behind ends with it. */
function end(code: number): never {
  killDescendants(process.pid)
  try {
    process.kill(-process.pid, 'SIGKILL')
  } catch {
    // It was started in somebody else's group.
  }
  process.exit(code)
}

function threw(code: StepFailureCode, message: string, kind: 'retry' | 'fail' | 'error' = 'error'): FromStep {
  return { type: 'threw', kind, code, message }
}

async function listen(): Promise<void> {
  for await (const line of splitLines(channel.setEncoding('utf8'))) {
    const message = JSON.parse(line) as ToStep
    if (message.type === 'abort') aborted.abort(new Error(message.reason))
    else if (message.type === 'done') settle(message)
    else void run(message).then(finish, (error: unknown) => finish(failure(error)))
  }
  killContainer()
  end(1)
}

function settle(message: Extract<ToStep, { type: 'done' }>): void {
  const waiting = asked.get(message.id)
  asked.delete(message.id)
  if ('ok' in message) waiting?.resolve(message.ok)
  else waiting?.reject(new Error(message.error))
}

async function run(order: RunOrder): Promise<FromStep> {
  const said = await (order.program === undefined ? runModule(order) : runProgram(order, order.program))
  const problem = said.type === 'returned' ? problemOfOutputs(said.outputs) : undefined
  return problem === undefined ? said : threw('step_outputs', `what it returned is no JSON: ${problem}`)
}

async function loadStep(): Promise<StepDefinition> {
  const loaded: { readonly default?: unknown } = await import(pathToFileURL(module).href)
  const step = stepOf(loaded.default)
  if (step !== undefined) return step
  throw new TypeError('its default export is no step: export default defineStep({ .. })')
}

async function runModule({ inputs, config, key, attempt, feedback, secrets }: RunOrder): Promise<FromStep> {
  const step = await loadStep()
  // What gates and lists of the block read besides is none of the step's.
  const own = Object.entries(inputs).filter(([port]) => Object.hasOwn(step.inputs.shape, port))
  const given = step.inputs.safeParse(Object.fromEntries(own))
  if (!given.success) return threw('step_inputs', `its inputs do not fit: ${z.prettifyError(given.error)}`, 'fail')
  const set = (step.config ?? z.strictObject({})).safeParse(config)
  if (!set.success) return threw('step_config', `its config does not fit: ${z.prettifyError(set.error)}`, 'fail')
  const made = await step.run({
    inputs: given.data,
    config: set.data,
    key,
    attempt,
    feedback,
    secrets,
    signal: aborted.signal,
    log: { info: logAs('info'), warn: logAs('warn'), error: logAs('error') },
    progress: openProgress(),
    cost: (usd) => tell({ type: 'cost', usd: Number(usd) }),
    artifacts: await openArtifacts(),
  })
  const outputs = step.outputs.safeParse(made)
  if (!outputs.success) return threw('step_outputs', `what it returned does not fit: ${z.prettifyError(outputs.error)}`)
  return { type: 'returned', outputs: outputs.data as Record<string, Json> }
}

function logAs(level: 'info' | 'warn' | 'error') {
  return (text: string) => tell({ type: 'log', level, text: String(text).slice(0, STEP_LIMITS.log_bytes) })
}

/** Between two words about how far it is, ms: people see no more, and a million of them would be in the way of the answer. */
const PROGRESS_MS = 100

/** Says the newest: at once, or when it is time. */
function openProgress(): (fraction: number, note?: string) => void {
  let said = Number.NEGATIVE_INFINITY
  let newest: FromStep | undefined
  const say = () => {
    if (newest === undefined) return
    said = performance.now()
    tell(newest)
    newest = undefined
  }
  return (fraction, note = '') => {
    const isWaiting = newest !== undefined
    newest = { type: 'progress', fraction: Number(fraction), note: String(note).slice(0, STEP_LIMITS.note_characters) }
    const left = said + PROGRESS_MS - performance.now()
    if (left <= 0) say()
    else if (!isWaiting) setTimeout(say, left).unref()
  }
}

/** Bodies go through files of a folder of this process: neither side holds what it only hands on. */
async function openArtifacts(): Promise<StepArtifacts> {
  const folder = await mkdtemp(join(tmpdir(), 'artifacts-'))
  let written = 0
  return {
    async write(name, body, media_type) {
      written += 1
      const file = join(folder, `out-${written}`)
      await pipeline(piecesOf(name, body), createWriteStream(file))
      return ask((id) => ({ type: 'write', id, name, file, ...(media_type === undefined ? {} : { media_type }) }))
    },
    async read(ref) {
      return createReadStream(await ask((id) => ({ type: 'read', id, ref })))
    },
  }
}

/** A stream that goes on and on fills no disk. */
async function* piecesOf(name: string, body: ArtifactBody): AsyncGenerator<string | Uint8Array> {
  const most = STEP_LIMITS.artifact_bytes
  let bytes = 0
  for await (const piece of typeof body === 'string' || body instanceof Uint8Array ? [body] : body) {
    bytes += Buffer.byteLength(piece)
    if (bytes > most) throw new Error(`artifact "${name}" has more than the ${most} bytes that are allowed`)
    yield piece
  }
}

function ask(message: (id: number) => FromStep): Promise<string> {
  lastId += 1
  const answer = Promise.withResolvers<string>()
  asked.set(lastId, answer)
  tell(message(lastId))
  return answer.promise
}

/** A program asks to be tried again by this exit code. Source: sysexits.h, EX_TEMPFAIL. */
const TRY_AGAIN = 75

/** The container of this attempt, while there is one. */
let container: StepProgram['container']

async function runProgram(order: RunOrder, how: StepProgram): Promise<FromStep> {
  if (how.container !== undefined) return runContainer(order, how, how.container)
  const { inputs, config, key, attempt, feedback } = order
  const [command = '', ...args] = how.exec
  await placeFiles(inputs, how.files)
  leaveStandardErrorAlone()
  // By the folder it has open it is known for one of this attempt, and so is what it starts, wherever that goes.
  const mark = openSync(how.artifacts, 'r')
  const child = spawn(command, args, { cwd: how.cwd, env: how.env, stdio: ['pipe', 'pipe', 'inherit', mark] })
  const over = Promise.withResolvers<{ readonly code: number | null; readonly signal: string | null } | Error>()
  child.once('error', over.resolve)
  child.once('exit', (code, signal) => over.resolve({ code, signal }))
  aborted.signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true })
  // One that reads nothing is none of our errors.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(
    `${JSON.stringify({ inputs, config, key, attempt, feedback, files: how.files, artifacts: how.artifacts })}\n`,
  )
  const answer = await readAnswer(child, how.answer_bytes)
  if (answer === undefined) return threw('step_answer', `its answer is longer than ${how.answer_bytes} bytes`, 'fail')
  const ended = await over.promise
  return endedBadly(ended) ?? readOutputs(answer, how)
}

/** How it ended where that was not well. */
function endedBadly(ended: { readonly code: number | null; readonly signal: string | null } | Error) {
  if (ended instanceof Error) return threw('step_not_started', `it cannot be started: ${ended.message}`, 'fail')
  if (ended.code === TRY_AGAIN) return threw('step_failed', `it ended with exit code ${TRY_AGAIN}: try again`, 'retry')
  if (ended.code === 0) return undefined
  const seen = ended.signal === null ? `exit code ${ended.code}` : `signal ${ended.signal}`
  return threw('step_failed', `it ended with ${seen}`)
}

/** Bodies that inputs name lie in the folder of files, each under the name of its port. */
async function placeFiles(inputs: RunOrder['inputs'], folder: string): Promise<void> {
  for (const [port, ref] of Object.entries(inputs)) {
    if (typeof ref !== 'string' || !ref.startsWith('objstore://')) continue
    await rename(await ask((id) => ({ type: 'read', id, ref })), join(folder, port))
  }
}

/** Exit code of docker and podman where the container itself was not started. Source: docker run, "Exit status". */
const NOT_STARTED = 125

/** It reads input.json and writes output.json in the folder of the attempt; what it prints is its log. */
async function runContainer(
  { inputs, key, attempt, feedback }: RunOrder,
  how: StepProgram,
  own: NonNullable<StepProgram['container']>,
): Promise<FromStep> {
  const [command = '', ...args] = how.exec
  const output = join(own.folder, 'output.json')
  // A stand-in is told what is called; a container gets what it works with.
  const { inputs: given = {} } = (inputs.parameters ?? {}) as { readonly inputs?: RunOrder['inputs'] }
  await placeFiles(given, how.files)
  await writeFile(join(own.folder, 'input.json'), JSON.stringify({ inputs: given, key, attempt, feedback }))
  container = own
  leaveStandardErrorAlone()
  const child = spawn(command, args, { cwd: how.cwd, env: how.env, stdio: ['ignore', 'inherit', 'inherit'] })
  const over = Promise.withResolvers<Parameters<typeof endedBadly>[0]>()
  child.once('error', over.resolve)
  child.once('close', (code, signal) => over.resolve({ code, signal }))
  aborted.signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true })
  const ended = await over.promise
  container = undefined
  if (!(ended instanceof Error) && ended.code === NOT_STARTED) {
    return threw('step_not_started', `the container was not started (exit code ${NOT_STARTED}); its log says why`)
  }
  const failed = endedBadly(ended)
  if (failed !== undefined) return failed
  const size = await stat(output).then(
    ({ size: bytes }) => bytes,
    () => 0,
  )
  if (size > how.answer_bytes)
    return threw('step_answer', `its output.json has ${size} bytes; at most ${how.answer_bytes} are allowed`, 'fail')
  return readOutputs(await readFile(output, 'utf8').catch(() => ''), how)
}

/** Whoever followed it is gone: the container would go on without anybody. */
function killContainer(): void {
  const [command, ...args] = container?.kill ?? []
  if (command !== undefined) spawnSync(command, args, { timeout: KILL_MS, stdio: 'ignore' })
}

const KILL_MS = 10_000

/** A program that has ended wrote all it had to say: who still has its output open says nothing for so long, ms. */
const QUIET_MS = 1_000

/** Undefined: it is longer than that, and the program is at its end. */
function readAnswer(child: ChildProcess, most: number): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let bytes = 0
  let ended = false
  let quiet: NodeJS.Timeout | undefined
  return new Promise((resolve) => {
    const done = () => resolve(Buffer.concat(pieces).toString('utf8'))
    const wait = () => {
      clearTimeout(quiet)
      quiet = setTimeout(done, QUIET_MS)
    }
    child.stdout?.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > most) resolve(undefined)
      else pieces.push(piece)
      if (ended) wait()
    })
    child.stdout?.once('end', done)
    child.once('error', done)
    child.once('exit', () => {
      ended = true
      wait()
    })
  })
}

/**
 * Node makes process.stderr when a socket closes, to compare, and with it descriptor 2 non-blocking; a program that shares it
 * then fails in the middle of a long log (EAGAIN). Nothing here writes to either.
 */
function leaveStandardErrorAlone(): void {
  for (const name of ['stdout', 'stderr']) Object.defineProperty(process, name, { value: undefined })
}

async function readOutputs(answer: string, { artifacts }: StepProgram): Promise<FromStep> {
  let outputs: unknown
  try {
    outputs = JSON.parse(answer)
  } catch (error) {
    const seen = answer.trim() === '' ? 'nothing' : JSON.stringify(answer.trim().slice(0, 80))
    return threw('step_answer', `its answer is no JSON object: it wrote ${seen} (${String(error)})`)
  }
  if (typeof outputs !== 'object' || outputs === null || Array.isArray(outputs)) {
    return threw('step_answer', 'its answer is JSON, but no object with a value for each output')
  }
  const kept: Record<string, string> = {}
  for (const entry of await readdir(artifacts, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const name = file.slice(artifacts.length + 1)
    kept[name] = await ask((id) => ({ type: 'write', id, name, file }))
  }
  // An output that names a file it left is the object that file became.
  const named = Object.entries(outputs as Record<string, Json>).map(([port, value]) => {
    const ref = typeof value === 'string' && value.startsWith('artifacts/') ? kept[value.slice(10)] : undefined
    return [port, ref ?? value] as const
  })
  return { type: 'returned', outputs: Object.fromEntries(named) }
}

/** Characters of what it threw: the rest says nothing to anybody. */
const SAID = 65_536

function failure(error: unknown): FromStep {
  if (!(error instanceof Error)) return threw('step_failed', `it threw ${shown(error)}`)
  const [name, stack] = [String(error.name), String(error.stack ?? '').slice(0, SAID)]
  const message = String(error.message).slice(0, SAID)
  const kind = name === 'Retry' ? 'retry' : name === 'Fail' ? 'fail' : 'error'
  const after = 'after_ms' in error && typeof error.after_ms === 'number' ? { after_ms: error.after_ms } : {}
  const told = message === '' ? `it threw ${name} and said no more` : message
  const words = kind === 'error' ? `${name}: ${message}` : told
  return { type: 'threw', kind, code: 'step_failed', message: words, stack: ownFrames(stack), ...after }
}

function shown(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, SAID)
  } catch {
    return inspect(value).slice(0, SAID)
  }
}

const RUNNER = /\brun-step\.(?:ts|mjs|js):\d/

/** Without the frames of this program, which is called so as source, as bundle of a function and in the package. */
function ownFrames(stack: string): string {
  const lines = stack.split('\n')
  const ours = lines.findIndex((line) => RUNNER.test(line))
  return (ours < 0 ? lines : lines.slice(0, ours)).join('\n')
}

async function describe(): Promise<FromStep> {
  const { inputs, outputs, config = z.strictObject({}), effect = 'again', description } = await loadStep()
  const asSchema = (schema: z.ZodType, io: 'input' | 'output') =>
    z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
  const as = { inputs: asSchema(inputs, 'input'), outputs: asSchema(outputs, 'output') }
  const told = description === undefined ? {} : { description }
  return { type: 'described', as: { kind: 'step', ...as, config: asSchema(config, 'input'), effect, ...told } }
}

/** What a step forgets to catch ends its attempt like what it throws. */
process.on('uncaughtException', (error) => finish(failure(error)))
process.on('unhandledRejection', (error) => finish(failure(error)))

/** What left its group, where the step ends this process itself. */
process.on('exit', () => killDescendants(process.pid))
/** Who followed it is gone. */
channel.on('error', () => end(1))

if (process.argv[3] === 'describe') void describe().then(finish, (error: unknown) => finish(failure(error)))
else void listen()
