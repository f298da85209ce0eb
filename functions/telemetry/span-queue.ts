import type { Span } from '../../shared/telemetry/otlp-spans.ts'

interface SpanQueue {
  /** Spans, now or when they are known; more than there is room for are dropped. */
  add(spans: Promise<readonly Span[]>): void
  /** Sends what waits, for at most `ms`. Never rejects. */
  flush(ms: number): Promise<void>
}

interface QueueParts {
  post(spans: readonly Span[], signal: AbortSignal): Promise<Posted>
  /** Told once when spans begin to be lost, or to wait, and once when that is over. */
  tell(message: string, facts: Readonly<Record<string, unknown>>): void
  now(): number
  /** Sends by itself so long after something came; 0 = only when it is flushed. */
  readonly every_ms: number
}

/** Spans that wait; a span has about 1 KB. */
const MOST_WAITING = 4_096

/** Of one request. */
const MOST_SENT = 512

const REQUEST_MS = 10_000

const FIRST_PAUSE_MS = 1_000

const LONGEST_PAUSE_MS = 30_000

/**
 * Spans on their way to a collector: bounded in number and time, and of no consequence to anybody else. A collector
 * that fails is left alone for a while, twice as long each time; what waits then is sent later, what finds no room is
 * counted and gone.
 */
export function createSpanQueue(parts: QueueParts): SpanQueue {
  const state: State = { waiting: [], coming: new Set(), dropped: 0, pause_ms: 0, not_before: 0, away: false }
  let timer: NodeJS.Timeout | undefined
  const queue: SpanQueue = {
    add(spans) {
      const came = spans.then(
        (known) => take(state, parts, known),
        // The store could not be read: what they were nobody knows.
        () => drop(state, parts, 1, 'the log could not be read'),
      )
      state.coming.add(came)
      void came.finally(() => state.coming.delete(came))
      if (parts.every_ms === 0 || timer !== undefined) return
      timer = setTimeout(() => {
        timer = undefined
        void queue.flush(REQUEST_MS).then(() => {
          if (state.waiting.length > 0) queue.add(Promise.resolve([]))
        })
      }, parts.every_ms)
      // What is left of a process that ends is flushed by who ends it.
      timer.unref()
    },
    async flush(ms) {
      if (state.coming.size === 0 && state.waiting.length === 0) return
      const over = AbortSignal.timeout(Math.max(1, ms))
      await untilOver(Promise.all(state.coming), over)
      // One sender at a time.
      state.sending ??= sendAll(state, parts, over).finally(() => {
        state.sending = undefined
      })
      await untilOver(state.sending, over)
    },
  }
  return queue
}

interface State {
  waiting: Span[]
  readonly coming: Set<Promise<void>>
  sending?: Promise<void> | undefined
  dropped: number
  pause_ms: number
  /** ms since 1970. */
  not_before: number
  /** It was told that spans are lost, or wait. */
  away: boolean
}

function take(state: State, parts: QueueParts, spans: readonly Span[]): void {
  const room = Math.max(0, MOST_WAITING - state.waiting.length)
  state.waiting.push(...spans.slice(0, room))
  if (spans.length > room) drop(state, parts, spans.length - room, `${MOST_WAITING} wait already`)
}

function drop(state: State, parts: QueueParts, count: number, why: string): void {
  state.dropped += count
  complain(state, parts, why)
}

function complain(state: State, { tell }: QueueParts, why: string): void {
  if (state.away) return
  state.away = true
  tell('spans do not reach their collector', { reason: why, dropped: state.dropped, waiting: state.waiting.length })
}

async function sendAll(state: State, parts: QueueParts, over: AbortSignal): Promise<void> {
  while (state.waiting.length > 0 && !over.aborted && parts.now() >= state.not_before) {
    const sent = state.waiting.splice(0, MOST_SENT)
    const signal = AbortSignal.any([over, AbortSignal.timeout(REQUEST_MS)])
    const posted = await parts.post(sent, signal)
    if (posted.kind === 'later') return putBack(state, parts, sent, posted)
    if (posted.kind === 'refused') drop(state, parts, sent.length, posted.why)
    else if (posted.rejected > 0) drop(state, parts, posted.rejected, posted.why ?? '')
    else recover(state, parts)
    if (posted.kind === 'refused') return pause(state, parts, undefined)
    state.pause_ms = 0
  }
}

function putBack(
  state: State,
  parts: QueueParts,
  sent: readonly Span[],
  { why, wait_ms }: Extract<Posted, { kind: 'later' }>,
): void {
  const all = [...sent, ...state.waiting]
  state.waiting = all.slice(0, MOST_WAITING)
  state.dropped += all.length - state.waiting.length
  pause(state, parts, wait_ms)
  complain(state, parts, why)
}

function pause(state: State, { now }: QueueParts, asked_ms: number | undefined): void {
  state.pause_ms = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, state.pause_ms * 2))
  state.not_before = now() + (asked_ms ?? state.pause_ms)
}

function recover(state: State, { tell }: QueueParts): void {
  if (!state.away) return
  state.away = false
  tell('spans reach their collector again', { dropped: state.dropped })
  state.dropped = 0
}

/** Resolves when it is done or over, whichever comes first. */
async function untilOver(done: Promise<unknown>, over: AbortSignal): Promise<void> {
  if (over.aborted) return
  const end = Promise.withResolvers<void>()
  const stop = () => end.resolve()
  over.addEventListener('abort', stop, { once: true })
  await Promise.race([done.catch(() => undefined), end.promise])
  over.removeEventListener('abort', stop)
}

/** What became of a request. `later`: the same may be taken another time. */
export type Posted =
  | { readonly kind: 'taken'; readonly rejected: number; readonly why?: string }
  | { readonly kind: 'later'; readonly why: string; readonly wait_ms?: number }
  | { readonly kind: 'refused'; readonly why: string }
