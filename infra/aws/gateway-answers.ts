import { type ResponseType as Kind, ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway'
import { problemOf } from '../../shared/api/problem.ts'
import { Fault, type FaultName } from '../../shared/errors.ts'
import type { Chosen } from './access.ts'

/** What API Gateway answers by itself, as problem+json like every answer of ours. */
export function addGatewayAnswers(api: RestApi, mode: Chosen['auth'], waf: boolean): void {
  const denied = mode === undefined ? NOT_ALLOWED : UNAUTHENTICATED
  const filtered = waf ? [[ResponseType.WAF_FILTERED, FILTERED] as const] : []
  const answers = [...ANSWERS, [ResponseType.ACCESS_DENIED, denied] as const, ...filtered]
  for (const [type, { fault, said }] of answers) {
    api.addGatewayResponse(type.responseType, {
      type,
      statusCode: String(fault.status),
      responseHeaders: { 'Content-Type': "'application/problem+json'", 'Cache-Control': "'no-store'" },
      templates: { 'application/json': textOf(fault, said === true) },
    })
  }
}

interface GatewayAnswer {
  readonly fault: Fault
  /** AWS's own words come with it: about clocks and signatures they are what helps, and they name nothing of ours. */
  readonly said?: true
}

function answer(
  name: FaultName,
  status: number,
  code: string,
  detail: string,
  more: { said?: true } = {},
): GatewayAnswer {
  return { fault: new Fault(name, code, detail, { status }), ...more }
}

/** The words of functions/http-handler.ts. */
const UNAUTHENTICATED = answer(
  'Rejected',
  401,
  'unauthenticated',
  'Cannot tell who calls: send credentials this deployment accepts.',
)
const NOT_ALLOWED = answer(
  'Rejected',
  403,
  'access_denied',
  'These AWS credentials may not call this: their principal needs execute-api:Invoke on the API (docs/deploy.md).',
)
const FILTERED = answer(
  'Rejected',
  403,
  'request_filtered',
  'The web ACL before this deployment refused the request: too many from one address, or one that looks like an attack (docs/deploy.md).',
)
const BAD_SIGNATURE = answer(
  'Rejected',
  403,
  'signature_refused',
  'AWS does not accept the signature of this request.',
  {
    said: true,
  },
)

const ANSWERS: readonly (readonly [Kind, GatewayAnswer])[] = [
  [ResponseType.UNAUTHORIZED, UNAUTHENTICATED],
  [ResponseType.INVALID_SIGNATURE, BAD_SIGNATURE],
  [ResponseType.EXPIRED_TOKEN, BAD_SIGNATURE],
  [
    ResponseType.MISSING_AUTHENTICATION_TOKEN,
    answer('Rejected', 403, 'unsigned_or_unknown', 'The request is not signed, or no route has its path and method.', {
      said: true,
    }),
  ],
  [
    ResponseType.REQUEST_TOO_LARGE,
    answer('LimitExceeded', 413, 'body_too_large', 'Cannot take the body: at most 10 MiB come through API Gateway.'),
  ],
  [
    ResponseType.THROTTLED,
    answer('LimitExceeded', 429, 'throttled', 'Too many requests come to this deployment. Try again in a second.'),
  ],
  [
    ResponseType.QUOTA_EXCEEDED,
    answer('LimitExceeded', 429, 'throttled', 'Too many requests come to this deployment. Try again in a second.'),
  ],
  [
    ResponseType.AUTHORIZER_FAILURE,
    answer('Unavailable', 503, 'authorizer_failed', 'Cannot check who calls at the moment. Try again.'),
  ],
  [
    ResponseType.AUTHORIZER_CONFIGURATION_ERROR,
    answer('Unavailable', 503, 'authorizer_failed', 'Cannot check who calls at the moment. Try again.'),
  ],
]

/** `messageString` is a JSON text with its quotes. */
function textOf(fault: Fault, said: boolean): string {
  const text = JSON.stringify(problemOf(fault))
  return said ? `${text.slice(0, -1)},"message":$context.error.messageString}` : text
}
