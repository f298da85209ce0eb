import { Fault } from '../../shared/errors.ts'

/**
 * What every AWS client of ours is made with. Endpoint, region and credentials come from the SDK's own reading of the
 * environment (`AWS_ENDPOINT_URL_S3` and so on lead the tests to their emulators). The SDK's default never gives up on
 * an answer; three tries of ours fit into the 29 s a route has.
 */
export const CLIENT_OPTIONS = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 8_000, throwOnRequestTimeout: true },
} as const

/** What was being done, in words, and the IAM action it needs. */
interface AwsCall {
  readonly doing: string
  readonly action: string
}

/**
 * What an AWS SDK client threw, as one of ours: throttling, 5xx, time-outs and the network are Unavailable (retried),
 * everything else is a Bug of the deployment. The SDK's words hold ARNs, account numbers and table names, so they stay
 * in `cause`; messages name the action and the error's own name only.
 */
export function sdkFault(thrown: unknown, { doing, action }: AwsCall): Fault {
  if (thrown instanceof Fault) return thrown
  const seen = shapeOf(thrown)
  const facts = { aws_error: seen.name, action }
  const because = (name: 'Unavailable' | 'Bug', code: string, words: string) =>
    new Fault(name, code, `Cannot ${doing}: ${words}`, { facts, cause: thrown })
  if (isThrottled(seen)) return because('Unavailable', 'aws_throttled', `AWS limits the rate of ${action}. Try again.`)
  if (isOutage(seen)) return because('Unavailable', 'aws_unavailable', `${action} did not answer. Try again.`)
  if (isDenied(seen)) {
    const words = `the role of this function may not call ${action}. Add the action to its role in infra/aws and deploy.`
    return because('Bug', 'aws_access_denied', words)
  }
  return because('Bug', 'aws_refused', `${action} answered ${seen.name}. The request is wrong; trying again is no use.`)
}

interface Shape {
  readonly name: string
  readonly status: number | undefined
  readonly code: string | undefined
  readonly throttling: boolean
}

/** The fields SDK errors and Node's network errors carry; anything may be missing. */
interface Loose {
  readonly name?: unknown
  readonly code?: unknown
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $retryable?: { readonly throttling?: boolean }
}

function shapeOf(thrown: unknown): Shape {
  const { name, code, $metadata, $retryable }: Loose = typeof thrown === 'object' && thrown !== null ? thrown : {}
  return {
    // A word, not a text: nothing a service could have filled with data.
    name: typeof name === 'string' && /^[\w.]{1,80}$/.test(name) ? name : 'an unknown error',
    status: $metadata?.httpStatusCode,
    code: typeof code === 'string' ? code : undefined,
    throttling: $retryable?.throttling === true,
  }
}

function isThrottled({ name, status, throttling }: Shape): boolean {
  return throttling || status === 429 || THROTTLES.has(name)
}

function isOutage({ name, status, code }: Shape): boolean {
  return (status !== undefined && status >= 500) || OUTAGES.has(name) || (code !== undefined && NETWORK.has(code))
}

function isDenied({ name, status }: Shape): boolean {
  return status === 401 || status === 403 || name.startsWith('AccessDenied') || name === 'CredentialsProviderError'
}

const THROTTLES = new Set([
  'BandwidthLimitExceeded',
  'EC2ThrottledException',
  'LimitExceededException',
  'PriorRequestNotComplete',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionInProgressException',
])

const OUTAGES = new Set(['AbortError', 'InternalError', 'NetworkingError', 'RequestTimeout', 'TimeoutError'])

const NETWORK = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])
