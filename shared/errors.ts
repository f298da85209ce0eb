/** The eight names a caller (and ASL's ErrorEquals) can see. */
export type FaultName =
  | 'InvalidInput'
  | 'NotFound'
  | 'Conflict'
  | 'LimitExceeded'
  | 'Unavailable'
  | 'GateFailed'
  | 'Rejected'
  | 'Bug'

/** One place of a bad input, as listed in problem+json `errors[]`. */
export interface Issue {
  readonly path: string
  readonly message: string
  readonly hint?: string
  readonly [fact: string]: unknown
}

interface FaultDetail {
  readonly facts?: Readonly<Record<string, unknown>>
  readonly issues?: readonly Issue[]
  /** Overrides the HTTP status of the name (401, 405, 410, 413, 415, 421, 422). */
  readonly status?: number
  readonly cause?: unknown
}

/**
 * The only error of ours that crosses a boundary. `name` is a literal (minifiers rename classes), `code` is the
 * stable word the docs explain, `message` says what was seen, what is allowed and what to do.
 */
export class Fault extends Error {
  override readonly name: FaultName
  readonly code: string
  readonly facts: Readonly<Record<string, unknown>>
  readonly issues: readonly Issue[]
  readonly status: number

  constructor(name: FaultName, code: string, message: string, detail: FaultDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = name
    this.code = code
    this.facts = detail.facts ?? {}
    this.issues = detail.issues ?? []
    this.status = detail.status ?? STATUS[name]
  }
}

const STATUS: Readonly<Record<FaultName, number>> = {
  InvalidInput: 400,
  NotFound: 404,
  Conflict: 409,
  LimitExceeded: 429,
  Unavailable: 503,
  GateFailed: 422,
  Rejected: 403,
  Bug: 500,
}

/**
 * Why a program of a user's (a schema, a pattern, an expression) cannot be used or has no answer, in words for its author.
 * Caught where programs are compiled and run, and told as a value.
 */
export class ProgramProblem extends Error {
  override readonly name = 'ProgramProblem'
}

/**
 * The machine's own signals; never seen by a caller of the API. The message is JSON the block state's Catch parses,
 * so the stack is emptied: Lambda puts it into Cause and it must always parse.
 */
export class MachineSignal extends Error {
  override readonly name: 'RetryBlock' | 'AskPerson'

  constructor(name: 'RetryBlock' | 'AskPerson', message: { readonly s: number; readonly e?: number }) {
    super(JSON.stringify(message))
    this.name = name
    this.stack = ''
  }
}
