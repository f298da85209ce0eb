import { Fault, type FaultName, type Issue } from '../errors.ts'
import { redactSecrets } from '../text/redact.ts'
import type { Problem } from './route-schema.ts'

/**
 * The problem of an error. A Fault speaks for itself, except Bug; everything else is a Bug whose words stay in the
 * log: nobody outside sees a stack, a path or a table name. At most 20 issues are listed.
 */
export function problemOf(error: unknown, runId?: string): Problem {
  const run = runId === undefined ? {} : { run_id: runId }
  if (!(error instanceof Fault) || error.name === 'Bug') {
    const code = error instanceof Fault ? error.code : 'internal_error'
    return { type: typeOf(code), title: TITLE.Bug, status: 500, code, detail: INTERNAL, ...run }
  }
  return {
    type: typeOf(error.code),
    title: TITLE[error.name],
    status: error.status,
    code: error.code,
    detail: redactSecrets(error.message),
    ...(error.issues.length === 0 ? {} : { errors: error.issues.slice(0, 20).map(toldIssue) }),
    ...run,
    ...(Object.keys(error.facts).length === 0 ? {} : { facts: { ...error.facts } }),
  }
}

/** A document or a body may hold a secret where it holds a mistake. */
function toldIssue(issue: Issue): Issue {
  const hint = issue.hint === undefined ? {} : { hint: redactSecrets(issue.hint) }
  return { ...issue, message: redactSecrets(issue.message), ...hint }
}

/** Headers that say a fact of the error in HTTP's own words: Allow, Retry-After. */
export function problemHeaders(error: unknown): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  const facts = error instanceof Fault ? error.facts : {}
  if (Array.isArray(facts.allow)) headers.allow = facts.allow.join(', ')
  if (typeof facts.retry_after_ms === 'number') headers['retry-after'] = String(Math.ceil(facts.retry_after_ms / 1_000))
  return headers
}

const INTERNAL = 'Something went wrong on this side; the log has the details. Trying again is safe.'

const TITLE: Readonly<Record<FaultName, string>> = {
  InvalidInput: 'The request is not valid',
  NotFound: 'There is no such thing',
  Conflict: 'The request conflicts with the present state',
  LimitExceeded: 'A limit is reached',
  Unavailable: 'Not available at the moment',
  GateFailed: 'A gate failed',
  Rejected: 'Not allowed',
  Bug: 'Internal error',
}

function typeOf(code: string): string {
  return `urn:sluice:problem:${code}`
}
