import { Fault } from '../../../shared/errors.ts'
import { networkFault, silenceFault, timeoutFault } from '../../providers/network-fault.ts'
import { reasonIn } from '../../providers/reason-in.ts'
import { retryAfterMs } from '../../providers/retry-after.ts'
import { failureOf } from '../../providers/status-fault.ts'

interface Asked {
  readonly name: string
  readonly timeout_ms: number
  readonly idle_ms?: number
}

interface Thrown {
  readonly error: unknown
  /** The provider's time was over. */
  readonly late: boolean
  readonly silent: boolean
}

/**
 * What a call of Bedrock ended with, as one of a provider's typed failures. Names come before statuses, since an error
 * inside a stream has no status. What is said of an account's rights holds its ARNs and is not repeated.
 */
export function converseFault(asked: Asked, { error, late, silent }: Thrown): unknown {
  if (silent) return silenceFault(asked, asked.idle_ms ?? 0)
  if (late) return timeoutFault(asked, `within ${asked.timeout_ms} ms (timeout_ms)`)
  if (error instanceof Fault || !(error instanceof Error)) return error
  if (NO_WAY.test(`${error.name} ${error.message}`)) return noCredentials(asked, error)
  if (error.name === 'TimeoutError') return timeoutFault(asked, 'for too long', error)
  const { status, headers } = answered(error)
  const known = Object.hasOwn(STATUSES, error.name) ? STATUSES[error.name] : status
  // 200: a stream that cannot be read.
  if (known === undefined || known < 300) return networkFault(asked, error)
  const told = [401, 403].includes(known) ? undefined : reasonIn(error.message)
  const wait = retryAfterMs(headers, Date.now())
  return failureOf(asked, { status: known, told, ...(wait === undefined ? {} : { retry_after_ms: wait }) })
}

/** The status each error of Converse stands for, whatever it came with. */
const STATUSES: Readonly<Record<string, number>> = {
  AccessDeniedException: 403,
  ExpiredTokenException: 403,
  InternalServerException: 500,
  InvalidSignatureException: 403,
  ModelErrorException: 500,
  ModelNotReadyException: 503,
  ModelStreamErrorException: 500,
  ModelTimeoutException: 408,
  ResourceNotFoundException: 404,
  // A quota of an account that fills again by the minute or day.
  ServiceQuotaExceededException: 429,
  ServiceUnavailableException: 503,
  ThrottlingException: 429,
  UnrecognizedClientException: 403,
  ValidationException: 400,
}

const NO_WAY = /CredentialsProviderError|Region is missing|Could not load credentials/i

function noCredentials({ name }: Asked, cause: Error): Fault {
  const message = `Cannot ask provider "${name}": this place has no AWS credentials or no region. Give them as for any AWS tool (AWS_PROFILE, AWS_ACCESS_KEY_ID, a role), and region in providers.${name} of sluice.yaml.`
  return new Fault('InvalidInput', 'provider_key_missing', message, { cause, facts: { provider: name } })
}

/** The fields errors of SDK clients carry; an error of the network has none of them. */
interface Loose {
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
}

function answered({ $metadata, $response }: Error & Loose) {
  // HTTP/2 has names with a colon too, which Headers does not take.
  const headers = Object.entries($response?.headers ?? {}).filter(([name]) => !name.startsWith(':'))
  return { status: $metadata?.httpStatusCode, headers: new Headers(headers) }
}
