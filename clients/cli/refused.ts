/** The API's problem+json, or the CLI's own words in the same form. */
export interface Reason {
  readonly code: string
  readonly detail: string
  readonly errors?: readonly Place[] | undefined
  /** What a program may act on, for example how long to wait. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined
}

/** One place of a bad input. Line and column are numbers where there is a text they count in. */
export interface Place {
  readonly path: string
  readonly message: string
  readonly hint?: string | undefined
  readonly line?: unknown
  readonly column?: unknown
}

/** 1 failed run or refused, 2 usage, 3 run ended partial or blocked, 4 an answer has unsupported sentences, 100 a check failed. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 100

/** Ends a command with a message for people and an exit code. */
export class Refused extends Error {
  readonly reason: Reason
  readonly exitCode: ExitCode
  /** HTTP status, when a server refused. */
  readonly status: number | undefined

  constructor(reason: Reason, detail: { exitCode?: ExitCode; status?: number; cause?: unknown } = {}) {
    super(reason.detail, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.reason = reason
    this.exitCode = detail.exitCode ?? 1
    this.status = detail.status
  }
}

/** A wrong command line: exit code 2. */
export function usage(detail: string): Refused {
  return new Refused({ code: 'usage', detail }, { exitCode: 2 })
}
