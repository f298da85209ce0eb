import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { Refused } from '../terminal/refused.ts'
import { oneLine } from '../terminal/text.ts'
import { fetchResponse, type Target } from './api.ts'

/** Types that end a run: exactly one of them is a run's last event. */
const TERMINAL = /^run:(completed|partial|blocked|failed|cancelled|iterated)$/

interface Follow {
  readonly runId: string
  /** The first event yielded is the one after this seq. */
  readonly since?: number
  readonly signal?: AbortSignal
  /** What a model says before its answer is recorded: no event, and none of it comes again. */
  readonly onDelta?: (delta: Delta) => void
}

/**
 * The run's events in order, each once, until the one that ends it. A dropped connection, a server that is restarting
 * and the server's own time limit are resumed with Last-Event-ID; after 30 s without any answer the error is thrown.
 */
export async function* followEvents(target: Target, follow: Follow): AsyncGenerator<RunEvent> {
  const cursor: Cursor = { seq: follow.since ?? 0, failures: 0, ended: false, handedOver: false, retryMs: 0 }
  while (!cursor.ended) {
    cursor.handedOver = false
    yield* untilDropped(target, follow, cursor)
    if (cursor.ended) return
    // The server's own time limit is no failure: the next stream is opened at once.
    if (cursor.handedOver) continue
    cursor.failures += 1
    const pause = Math.max(cursor.retryMs, Math.min(100 * 2 ** cursor.failures, 5_000))
    // An aborted wait throws what the signal was aborted with, as fetch does.
    await delay(pause, undefined, follow.signal && { signal: follow.signal }).catch(() =>
      follow.signal?.throwIfAborted(),
    )
  }
}

/** Where the reader is: moved by each event that arrives. */
interface Cursor {
  seq: number
  failures: number
  ended: boolean
  /** The server ended the stream and said where the next one begins. */
  handedOver: boolean
  /** What the last refusal asked for. */
  retryMs: number
}

async function* untilDropped(target: Target, follow: Follow, cursor: Cursor): AsyncGenerator<RunEvent> {
  try {
    const response = await openStream(target, follow, cursor.seq)
    // 204: the run has ended, and the reader has it all.
    cursor.ended = response.status === 204
    for await (const event of eventsOf(response, cursor, follow)) {
      cursor.failures = 0
      if (event.seq <= cursor.seq) continue
      cursor.seq = event.seq
      cursor.ended = TERMINAL.test(event.type)
      yield event
      if (cursor.ended) return
    }
  } catch (error) {
    if (follow.signal?.aborted === true || !mayPass(error) || cursor.failures >= GIVE_UP) throw error
    cursor.retryMs = error instanceof Refused ? Number(error.reason.facts?.retry_after_ms ?? 0) : 0
  }
}

/** 0.2 + 0.4 + .. + 3.2 + five times 5 s: a bit over 30 s. */
const GIVE_UP = 10

function openStream(target: Target, follow: Follow, seq: number): Promise<Response> {
  const params = { path: { run_id: follow.runId }, header: { 'Last-Event-ID': String(seq) } }
  const headers = { accept: 'text/event-stream' }
  const request = { params, headers, ...(follow.signal && { signal: follow.signal }) }
  return fetchResponse(target, (api) => api.GET('/api/dag/runs/{run_id}/events', request))
}

async function* eventsOf(response: Response, cursor: Cursor, { onDelta }: Follow): AsyncGenerator<RunEvent> {
  if (response.body === null) return
  for await (const message of readServerSentEvents(response.body.pipeThrough(new TextDecoderStream()))) {
    if (message.data === '' && message.id !== '') {
      cursor.handedOver = true
      cursor.failures = 0
    }
    const said = onDelta === undefined ? undefined : DeltaSchema.safeParse(readJson(message.data)).data
    if (said !== undefined) onDelta?.(said)
    const parsed = AnyEventSchema.safeParse(readJson(message.data))
    // The union's members differ in `data` only, and a newer server may send types this CLI does not know: what reads
    // an event has a default for those.
    if (parsed.success) yield parsed.data as unknown as RunEvent
  }
}

const DeltaSchema = z.looseObject({
  type: z.literal('block:delta'),
  block_id: z.string(),
  item: z.int().optional(),
  epoch: z.int(),
  attempt: z.int(),
  question: z.int(),
  from: z.int(),
  text: z.string(),
})
export type Delta = z.infer<typeof DeltaSchema>

const AnyEventSchema = z.looseObject({ seq: z.int().min(1), type: z.string(), at: z.string(), data: z.looseObject({}) })

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Refused by the server for good (unknown run, no right) is final; everything else may be a restart. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof Refused)) return true
  return error.reason.code === 'no_server' || error.status === 429 || (error.status ?? 0) >= 500
}

/** What a watched run is shown on. */
export interface View {
  /** Prints lines above what is redrawn. */
  note(text: string): void
  /** Shows nothing until the function it answers is called: somebody is asked meanwhile. */
  hold(): () => void
}

type OnEvent = (event: RunEvent, view: View) => Promise<void> | void

/** The same for the events of child runs too, while they run: what a child asks is answered like what its parent asks. */
export function followChildren(target: Target, onEvent: OnEvent, signal?: AbortSignal): OnEvent {
  const each: OnEvent = async (event, view) => {
    await onEvent(event, view)
    const child = event.type === 'block:started' ? event.data.child : undefined
    if (child === undefined || signal?.aborted === true) return
    followChild(target, child, (one) => each(one, view), signal).catch((error: unknown) => {
      if (signal?.aborted !== true) view.note(oneLine(`Child run ${child} cannot be followed: ${String(error)}`))
    })
  }
  return each
}

/** The claim that names a child comes before the child itself. */
const MOST_TRIES = 50
const PAUSE_MS = 100

async function followChild(
  target: Target,
  runId: string,
  each: (event: RunEvent) => Promise<void> | void,
  signal?: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      for await (const event of followEvents(target, { runId, ...(signal && { signal }) })) await each(event)
      return
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404 || tries >= MOST_TRIES) throw error
      await delay(PAUSE_MS)
    }
  }
}

/** One message of a text/event-stream. */
export interface ServerSentEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

/**
 * Splits a text/event-stream into messages (HTML standard, "Server-sent events"): comments are left out, `data` lines
 * are joined, an `id` without data is a message too (the server ends the stream and says where to go on), a message the stream ends in the middle of is dropped, so that a reader resumes at the last whole one.
 * Chunks may end anywhere, between \r and \n too.
 */
export async function* readServerSentEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let fields = new Map<string, string[]>()
  for await (const line of linesOf(chunks)) {
    if (line !== '') {
      addField(fields, line)
      continue
    }
    const message = messageOf(fields)
    fields = new Map()
    if (message !== undefined) yield message
  }
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    rest += chunk
    // A trailing \r may be half of \r\n: it waits for the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    yield* lines
  }
}

function addField(fields: Map<string, string[]>, line: string): void {
  const colon = line.indexOf(':')
  if (colon === 0) return
  const name = colon === -1 ? line : line.slice(0, colon)
  const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
  fields.set(name, [...(fields.get(name) ?? []), value])
}

function messageOf(fields: ReadonlyMap<string, readonly string[]>): ServerSentEvent | undefined {
  const [data = [], ids] = [fields.get('data'), fields.get('id')]
  if (data.length === 0 && ids === undefined) return undefined
  return { id: ids?.at(-1) ?? '', event: fields.get('event')?.at(-1) ?? 'message', data: data.join('\n') }
}
