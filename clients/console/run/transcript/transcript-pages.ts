import type { operations } from '../../../api/schema.generated.ts'

export type TranscriptPage = operations['get-transcript']['responses'][200]['content']['application/json']
export type TranscriptTurn = TranscriptPage['turns'][number]
export type TranscriptCall = TranscriptTurn['calls'][number]

const ENDED: ReadonlySet<string> = new Set(['completed', 'refused', 'failed', 'cancelled'])

/** The turns known so far with those of a page in their places, in order. */
export function withPage(
  known: readonly TranscriptTurn[],
  { turns, turns_total }: Pick<TranscriptPage, 'turns' | 'turns_total'>,
): readonly TranscriptTurn[] {
  const all = new Map([...known, ...turns].map((turn) => [turn.turn, turn]))
  // A pass that began anew has fewer.
  return [...all.values()].toSorted((a, b) => a.turn - b.turn).slice(0, turns_total)
}

/** The first turn that may still change; behind all of them where none may. */
export function firstOpenTurn(turns: readonly TranscriptTurn[]): number {
  const open = turns.find(({ state, calls }) => !ENDED.has(state) || calls.some((call) => !ENDED.has(call.state)))
  return open?.turn ?? (turns.at(-1)?.turn ?? 0) + 1
}

/** The beginning of arguments, on one line. */
export function shortArguments(text: string | undefined, most = 90): string {
  const line = (text ?? '').replace(/\s+/g, ' ').trim()
  return line.length > most ? `${line.slice(0, most)}…` : line
}

/** A text as the value it may be: JSON is read as its tree. */
export function readText(text: string): unknown {
  try {
    return /^\s*[[{]/.test(text) ? JSON.parse(text) : text
  } catch {
    return text
  }
}

/** Milliseconds a provider or tool took; else from its beginning to its end. */
export function tookMs({ latency_ms, started_at, ended_at }: TranscriptCall | TranscriptTurn): number | undefined {
  if (latency_ms !== undefined) return latency_ms
  if (started_at === undefined || ended_at === undefined) return undefined
  return Date.parse(ended_at) - Date.parse(started_at)
}

interface Reading {
  /** Turns from this one on. */
  ask(turn: number): Promise<TranscriptPage>
  show(turns: readonly TranscriptTurn[], isWhole: boolean): void
  fail(error: unknown): void
}

/** Reads all turns page by page, and at each `load` those again that may have changed; one reading at a time. */
export function readTranscript({ ask, show, fail }: Reading): { load(): void; close(): void } {
  const state = { known: [] as readonly TranscriptTurn[], epoch: -1, isBusy: false, again: false, isClosed: false }
  const readAll = async () => {
    let next: number | undefined = firstOpenTurn(state.known)
    while (next !== undefined && !state.isClosed) {
      const page: TranscriptPage = await ask(next)
      next = take(state, page)
      if (!state.isClosed) show(state.known, next === undefined)
    }
  }
  const load = () => {
    state.again = state.isBusy
    if (state.isBusy) return
    state.isBusy = true
    readAll()
      .catch((error: unknown) => !state.isClosed && fail(error))
      .finally(() => {
        state.isBusy = false
        if (state.again && !state.isClosed) load()
      })
  }
  return {
    load,
    close: () => {
      state.isClosed = true
    },
  }
}

/** A pass that began anew is read from its first turn. */
function take(state: { known: readonly TranscriptTurn[]; epoch: number }, page: TranscriptPage): number | undefined {
  const isOther = page.epoch !== state.epoch && state.known.length > 0
  state.epoch = page.epoch
  state.known = isOther ? [] : withPage(state.known, page)
  return isOther ? 1 : page.next_turn
}
