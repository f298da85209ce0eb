import type { ExecutionStatus, TokenAnswer } from '../../../shared/runs/machine.ts'
import type { Json } from '../../../shared/text/json.ts'

/**
 * Where one branch of an execution stands: the state it is in (and what that state must not lose), or its output once
 * it ended. Only the newest place is kept, so the journal grows with live branches, not with states run.
 */
export type FramePosition =
  | { readonly output: Json }
  | {
      readonly state: string
      readonly input: Json
      /** Retries used, one number a retrier. */
      readonly retries?: readonly number[]
      /** When the next retry is due, ms since 1970. */
      readonly retry_at?: number
      /** When a Wait ends, ms since 1970. */
      readonly wait_until?: number
      readonly token?: string
      /** When the waiting task times out, ms since 1970. */
      readonly deadline?: number
      /** The function that was handed the token has returned. */
      readonly asked?: true
      /** The execution this state waits for was started. */
      readonly child?: true
    }

export interface JournalledExecution {
  readonly id: number
  /** `local:<hash of the definition>`. */
  readonly machine: string
  readonly name: string
  readonly input: Json
  readonly started_at: number
  /** History events so far, counted as Step Functions does; written along with every place. */
  events: number
  /** Its input cannot be read, and why; `input` is null then. */
  readonly damaged?: string
}

export interface ExecutionEnd {
  readonly status: Exclude<ExecutionStatus, 'RUNNING'>
  readonly error?: string
  readonly cause?: string
  readonly output?: Json
  readonly ended_at: number
}

/** One branch's row; kept by the branch so that writes of one batch fall together. */
export interface FrameSlot {
  readonly execution: JournalledExecution
  /** '' for the execution itself, `<path>/<index>` for a branch or item of the state it is in. */
  readonly path: string
  place?: FramePosition
  /** The last batch this slot was put into. */
  batch: number
}

/**
 * The machine's memory across processes. Writes are buffered and committed together on the next turn of the event
 * loop, in order: a kill loses a suffix of them, never a part from the middle. `soon`: with another commit, where one comes,
 * after 10 ms by itself. Reads see what is buffered.
 */
export interface Journal {
  define(hash: string, definition: string): void
  definition(hash: string): string | undefined
  /** Notes that one is about to be used. `at`: ms since 1970. */
  use(hash: string, at: number): void
  /** When each was used last; 0 of what an older process kept. */
  uses(): readonly { readonly hash: string; readonly used_at: number }[]
  undefine(hash: string): void
  /** Numbers and keeps a new execution. The caller knows that the name is free. */
  create(execution: Omit<JournalledExecution, 'id'>): JournalledExecution
  /**
   * Committed executions only: the caller knows those still running. Of a damaged row the input is null, and an end that
   * cannot be read is FAILED.
   */
  find(
    machine: string,
    name: string,
  ): { readonly id: number; readonly input: Json; readonly end?: ExecutionEnd } | undefined
  /** Damaged ones too: one row keeps nobody from the others. */
  unfinished(): readonly JournalledExecution[]
  /** Throws where one cannot be read, as `tokens` and `token` do. */
  places(execution: number): Map<string, FramePosition>
  tokens(execution: number): ReadonlyMap<string, TokenAnswer | undefined>
  /** Undefined: unknown or no longer waited for. */
  token(token: string): { readonly execution: number; readonly answer?: TokenAnswer } | undefined
  put(slot: FrameSlot, place: FramePosition, soon?: boolean): void
  /** Forgets the branches below `path` and their tokens. */
  clear(execution: number, path: string, soon?: boolean): void
  openToken(token: string, slot: FrameSlot, soon?: boolean): void
  answerToken(token: string, answer: TokenAnswer, soon?: boolean): void
  closeToken(token: string, soon?: boolean): void
  /** Keeps the end, forgets places and tokens; `soon`: nobody waits for its commit. */
  end(execution: number, end: ExecutionEnd, soon: boolean): void
  /** Resolves when everything buffered so far is committed; rejects when that failed (it stays buffered). */
  durable(): Promise<void>
  /** Resolves with the commit that has everything buffered so far, whenever it comes. */
  committed(): Promise<void>
}
