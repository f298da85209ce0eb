import { plainText } from './text.ts'

/** The API's problem+json, or the CLI's own words in the same form. */
export interface Reason {
  readonly code: string
  readonly detail: string
  readonly errors?: readonly InputIssue[] | undefined
  /** What a program may act on, for example how long to wait. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined
}

/** One place of a bad input. Line and column are numbers where there is a text they count in. */
export interface InputIssue {
  readonly path: string
  readonly message: string
  readonly hint?: string | undefined
  readonly line?: unknown
  readonly column?: unknown
}

/** 1 failed run or refused, 2 usage, 3 run ended partial or blocked, 4 an answer has unsupported sentences, 100 a check failed, 130 Ctrl-C. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 100 | 130

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
export function usageError(detail: string): Refused {
  return new Refused({ code: 'usage', detail }, { exitCode: 2 })
}

/**
 * An error as lines for stderr: what happened, then each place with its hint. What the first line says already is not
 * said again. Commands named as `sluice ..` are written as a person types them here.
 */
export function reasonLines(reason: Reason, command = 'sluice'): readonly string[] {
  const { code, detail, errors = [] } = reason
  const places = errors.flatMap((issue) =>
    detail.includes(issue.message) ? hintLines(issue, '  ') : positionLines(issue),
  )
  const lines = [`error: ${detail} [${code}]`, ...places]
  return lines.map((line) => plainText(line).replaceAll('`sluice ', `\`${command} `))
}

/** Errors of one document say its name once, above them. */
export function withoutDocumentName(message: string): string {
  return message.replace(/^Cannot compile DAG "(?:[^"\\]|\\.)*": /, '')
}

/** One place of a bad input: `line:column path: message`, its hint below. */
function positionLines(issue: InputIssue): readonly string[] {
  const at = typeof issue.line === 'number' ? `${issue.line}:${issue.column ?? 1} ` : ''
  const path = issue.path === '' ? '' : `${issue.path}: `
  // A document's errors carry their hint in the message too, for readers of JSON.
  const hint = issue.hint !== undefined && issue.message.includes(issue.hint) ? [] : hintLines(issue, '    ')
  return [`  ${at}${path}${withoutDocumentName(issue.message)}`, ...hint]
}

function hintLines({ hint }: InputIssue, indent: string): readonly string[] {
  return hint === undefined ? [] : [`${indent}${hint}`]
}
