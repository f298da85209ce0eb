import type { RunEvent } from '../../../../shared/runs/event.ts'
import { isRunEnd } from '../../../../shared/runs/event-types.ts'
import type { Delta } from './voices.ts'

interface Follow {
  /** Where the API is. */
  readonly origin: string
  readonly runId: string
  readonly signal: AbortSignal
  /** New events, ascending, each once; many at once while the past is replayed. */
  readonly onEvents: (events: readonly RunEvent[]) => void
  /** What models say meanwhile: no event, and none of it comes again. */
  readonly onDeltas?: (deltas: readonly Delta[]) => void
  /** Whether the stream is open; false while it is opened again. */
  readonly onLive: (isLive: boolean) => void
}

/**
 * The events of a run from its first one until the one that ends it, over Server-Sent Events. The stream is read with
 * fetch, since EventSource cannot send headers; one that drops is opened again behind the last event (Last-Event-ID).
 */
export async function followRun(follow: Follow): Promise<void> {
  const cursor: Cursor = { seq: 0, failures: 0, isOver: false, isHandedOver: false, retryMs: 0 }
  while (!follow.signal.aborted) {
    cursor.isHandedOver = false
    await untilDropped(follow, cursor)
    if (cursor.isOver || follow.signal.aborted) return
    // The server's own time limit: the next stream is opened at once, and nobody sees a gap.
    if (cursor.isHandedOver) continue
    follow.onLive(false)
    cursor.failures += 1
    await pause(Math.max(cursor.retryMs, Math.min(250 * 2 ** cursor.failures, 10_000)), follow.signal)
  }
}

/** Where the reader is: moved by each event that arrives. */
interface Cursor {
  seq: number
  failures: number
  isOver: boolean
  /** The server ended the stream and said where the next one begins. */
  isHandedOver: boolean
  /** What the last refusal asked for. */
  retryMs: number
}

async function untilDropped(follow: Follow, cursor: Cursor): Promise<void> {
  try {
    const response = await openStream(follow, cursor.seq)
    // 204: the run has ended, and the reader has it all.
    cursor.isOver = response.status === 204 || isFinal(response.status)
    cursor.retryMs = 1_000 * Math.min(60, Number(response.headers.get('retry-after') ?? 0) || 0)
    if (cursor.isOver || !response.ok) return
    follow.onLive(true)
    for await (const messages of messagesOf(response)) {
      if (messages.some(isHandover)) Object.assign(cursor, { isHandedOver: true, failures: 0 })
      take(follow, cursor, messages.flatMap(dataOf))
      if (cursor.isOver) return
    }
  } catch {
    // Dropped, or the page is left: the loop above knows which.
  }
}

function take({ onEvents, onDeltas }: Follow, cursor: Cursor, messages: readonly object[]): void {
  const deltas = messages.filter(isDelta)
  if (deltas.length > 0) onDeltas?.(deltas)
  const fresh = messages.filter(isEvent).filter(({ seq }) => {
    const isNew = seq > cursor.seq
    if (isNew) cursor.seq = seq
    return isNew
  })
  if (fresh.length === 0) return
  cursor.failures = 0
  cursor.isOver = fresh.some(({ type }) => isRunEnd(type))
  onEvents(fresh)
}

/** Refused for good: an unknown run, no right. Everything else may be a restart. */
function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429
}

function openStream({ origin, runId, signal }: Follow, seq: number): Promise<Response> {
  const url = `${origin}/api/dag/runs/${encodeURIComponent(runId)}/events`
  return fetch(url, { headers: { accept: 'text/event-stream', 'last-event-id': String(seq) }, signal })
}

/** Messages a chunk of the stream: what arrives together is shown together. */
async function* messagesOf(response: Response): AsyncGenerator<readonly string[]> {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const messages = (rest + value.replaceAll('\r\n', '\n')).split('\n\n')
    rest = messages.pop() ?? ''
    yield messages
  }
}

/** An id without data: where the next stream goes on. */
function isHandover(message: string): boolean {
  return /^id:/m.test(message) && !/^data:/m.test(message)
}

function dataOf(message: string): readonly object[] {
  const data = message
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
  if (data.length === 0) return []
  const value: unknown = JSON.parse(data.join('\n'))
  return typeof value === 'object' && value !== null ? [value] : []
}

/** The server's own event, or one of a type this page does not know yet: what reads it has a default. */
function isEvent(value: object): value is RunEvent {
  return 'seq' in value
}

function isDelta(value: object): value is Delta {
  return 'type' in value && value.type === 'block:delta'
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(), ms)
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    signal.addEventListener('abort', end)
  })
}

/** The place of the newest event that is not after `seq`; -1 before the first. By halves: a list ascends by seq. */
export function indexOfSeq(events: readonly { readonly seq: number }[], seq: number): number {
  let low = -1
  let high = events.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((events[middle]?.seq ?? 0) <= seq) low = middle
    else high = middle
  }
  return low
}
