import { Fault } from '../../../shared/errors.ts'
import { failureFault, readReason, retryAfterMs } from '../faults.ts'
import { asString, invalidAnswerFault, memberOf } from '../model-answers.ts'
import { networkFault } from '../network-faults.ts'
import type { Remote } from '../remote.ts'

/**
 * What a package threw, as one of a provider's typed failures. Statuses and broken connections were told by its fetch
 * already; what is left is a request it cannot make of ours, an answer it cannot read, or a failure of a package that
 * brings its own way to the server.
 */
export function packageFault(remote: Remote, error: unknown, came: 'nothing' | 'stream' | 'whole'): unknown {
  if (error instanceof Fault) return error
  const status = statusOf(error)
  // A whole answer was looked through for failures before its package saw it: what that makes of it is no status.
  if (status !== undefined && came !== 'whole') return statusFaultOf(remote, error, status)
  if (came === 'nothing' && isNetwork(error)) return networkFault(remote, error)
  const words = wordsOf(error)
  const { name } = remote
  return came !== 'nothing'
    ? invalidAnswerFault(
        name,
        `Cannot use the answer of provider "${name}": its package cannot read it (${words}). Is its url the one of its API?`,
      )
    : invalidAnswerFault(name, `Cannot ask provider "${name}": ${words}.`)
}

/** A failure told inside an answer that began as a success. */
export function partFault(remote: Remote, error: unknown): unknown {
  if (error instanceof Fault) return error
  if (/^AI_(JSONParse|TypeValidation|InvalidResponseData)Error$/.test(nameOf(error))) {
    // A failure in a form its package does not know: `{error: {code: 503}}`, without a message.
    const inside = error instanceof Error && 'value' in error ? memberOf(error.value, 'error') : undefined
    return inside === undefined || inside === null ? packageFault(remote, error, 'whole') : partFault(remote, inside)
  }
  // One that says no number is taken for a server that broke off.
  return statusFaultOf(remote, error, statusOf(error) ?? typedStatus(error) ?? 502)
}

/** Told by packages at the end of a stream that gave no reason to finish. */
export function isUnfinished(error: unknown): boolean {
  return nameOf(error) === 'AI_InvalidResponseDataError'
}

function statusFaultOf(remote: Remote, error: unknown, status: number): Fault {
  const said = [401, 403, 407].includes(status) ? undefined : wordsOf(error)
  const told = said === undefined ? undefined : readReason(said)
  const headers = memberOf(error, 'responseHeaders')
  const wait =
    typeof headers === 'object' && headers !== null
      ? retryAfterMs(new Headers(Object.entries(headers)), Date.now())
      : undefined
  return failureFault(remote, { status, told, ...(wait === undefined ? {} : { retry_after_ms: wait }) })
}

function statusOf(error: unknown): number | undefined {
  return [memberOf(error, 'statusCode'), memberOf(error, 'status'), memberOf(error, 'code')]
    .map(Number)
    .find((number) => Number.isInteger(number) && number >= 400 && number <= 599)
}

/** The kinds of OpenAI, Anthropic and Google, which come without a number inside a stream. */
function typedStatus(error: unknown): number | undefined {
  const kinds = [memberOf(error, 'type'), memberOf(error, 'code'), memberOf(error, 'status')].flatMap(
    (kind) => asString(kind) ?? [],
  )
  return KINDS.find(([pattern]) => kinds.some((kind) => pattern.test(kind)))?.[1]
}

const KINDS: readonly (readonly [RegExp, number])[] = [
  [/overloaded|unavailable/i, 503],
  [/rate_limit|resource_exhausted|insufficient_quota/i, 429],
  [/timeout|deadline/i, 504],
  [/authentication|unauthenticated/i, 401],
  [/permission/i, 403],
  [/not_found/i, 404],
  [/too_large/i, 413],
  [/invalid/i, 400],
  [/api_error|server_error|internal/i, 500],
]

function isNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.name === 'TypeError' && /fetch failed/i.test(error.message)
    ? true
    : /^(E[A-Z]{4,}|UND_ERR_\w+)$/.test(asString(memberOf(error, 'code')) ?? '')
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}

/** In one line; what a schema of a package lists of a large answer is of no use to anybody. */
function wordsOf(error: unknown): string {
  const text =
    error instanceof Error
      ? error.message
      : (asString(memberOf(error, 'message')) ?? JSON.stringify(error) ?? 'no reason given')
  return readReason((text.split('\n')[0] ?? '').replace(/[.:]\s*$/, '')) ?? 'its package gave no reason'
}
