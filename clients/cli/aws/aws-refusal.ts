import { type Reason, Refused } from '../terminal/refused.ts'

/** What AWS, or looking for credentials, ended with, as words that say what to do. Exit code 1. */
export function awsRefusal(error: unknown): Refused {
  if (error instanceof Refused) return error
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return new Refused(reasonOf(name, message), { cause: error })
}

/**
 * What API Gateway itself refused, before any function of ours was asked: it answers 403 with a message of its own, and
 * the kind in a header. Undefined where it is none of that.
 */
export function gatewayRefusal(status: number, errorType: string | null, body: unknown): Refused | undefined {
  const { message, Message } = (body ?? {}) as { readonly message?: unknown; readonly Message?: unknown }
  const said = message ?? Message
  if (status !== 403 || typeof said !== 'string') return undefined
  // `InvalidSignatureException:http://internal.amazon.com/..`
  const name = errorType?.split(':')[0] ?? ''
  return new Refused(reasonOf(name, said), { status })
}

function reasonOf(name: string, message: string): Reason {
  const seen = `${name} ${message}`
  const known = KINDS.find(({ pattern }) => pattern.test(seen))
  const said = message.replace(/\s+/g, ' ').slice(0, 400)
  return known === undefined
    ? { code: 'aws_call_refused', detail: `AWS refused the call: ${name} ${said}`.trimEnd() }
    : { code: known.code, detail: `${known.detail} AWS says: ${said}` }
}

interface Kind {
  readonly pattern: RegExp
  readonly code: string
  readonly detail: string
}

/** The first that fits, the more special ones first. */
const KINDS: readonly Kind[] = [
  {
    pattern:
      /signature expired|signature not yet current|RequestExpired|RequestTimeTooSkewed|InvalidSignature.*is now/i,
    code: 'aws_clock_differs',
    detail:
      'This machine and AWS disagree about the time by more than five minutes, so its signatures are refused. Set the clock (for example `sudo timedatectl set-ntp true`) and try again.',
  },
  {
    pattern: /ExpiredToken|token.{0,60}expired|credentials.{0,60}expired|session.{0,60}expired|refresh failed/i,
    code: 'aws_credentials_expired',
    detail: 'The AWS credentials have expired. Renew them (`aws sso login`, or export new ones) and try again.',
  },
  {
    pattern: /CredentialsProviderError|TokenProviderError|MissingAuthenticationToken|Could not load credentials/i,
    code: 'no_aws_credentials',
    detail:
      'No AWS credentials reached the request. Name a profile with --profile or AWS_PROFILE, sign in with `aws sso login`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. An address that is no route of the API gets the same answer.',
  },
  {
    pattern: /region is missing|region not accepted/i,
    code: 'no_aws_region',
    detail: 'No AWS region is known. Name it with --region or AWS_REGION, or in the profile.',
  },
  {
    pattern:
      /UnrecognizedClient|InvalidClientTokenId|InvalidSignature|SignatureDoesNotMatch|IncompleteSignature|token included in the request is invalid/i,
    code: 'aws_credentials_refused',
    detail:
      'AWS does not accept these credentials. See whose they are with `aws sts get-caller-identity`; name others with --profile.',
  },
  {
    pattern: /AccessDenied|not authorized|Forbidden/i,
    code: 'aws_caller_denied',
    detail:
      'These AWS credentials may not do that. The principal needs execute-api:Invoke on the API (docs/deploy.md), and cloudformation:DescribeStacks to find it by --stack; --url needs only the first.',
  },
  {
    pattern: /ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|TimeoutError/,
    code: 'aws_unreachable',
    detail: 'AWS cannot be reached from here. Is the network up, and the region spelled right?',
  },
]
