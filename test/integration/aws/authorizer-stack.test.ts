// @module-tag thorough
import { beforeAll, describe, expect, test } from 'vitest'
import { isDeployed } from '../../../infra/aws/function-sizes.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { ROUTES } from '../../../shared/routes.ts'
import { assembled } from './assembled.ts'
import type { Assembly } from './assembly.ts'

const JWT = { mode: 'jwt', jwt: { issuer: 'https://id.example.com/', audience: 'sluice' } }
/** Without what the settings, or triggers of documents, ask for besides. */
const STANDING = FUNCTIONS.filter((line) => isDeployed(line, { shell: false }))
const SERVED = ROUTES.filter(({ name }) => STANDING.some((line) => line.name === name))

describe.each([
  ['token', 'token', '^[Bb]earer slu_[0-9a-hjkmnp-tv-z]{16}_[0-9a-hjkmnp-tv-z]{32}$'],
  ['jwt', JSON.stringify(JWT), '^[Bb]earer [!-~]{1,8192}$'],
])('with sluice:auth %s', (_mode, auth, shape) => {
  let made: Assembly
  beforeAll(async () => {
    made = await assembled({ 'sluice:auth': auth })
  }, 240_000)

  test('one authorizer is asked about every route but that of callbacks, and what it answered is kept for 60 seconds', () => {
    const [authorizer, ...more] = made.all('AWS::ApiGateway::Authorizer')
    expect(more).toEqual([])
    expect(authorizer?.Properties).toMatchObject({
      Type: 'TOKEN',
      AuthorizerResultTtlInSeconds: 60,
      IdentitySource: 'method.request.header.Authorization',
      IdentityValidationExpression: shape,
    })
    const methods = made.all('AWS::ApiGateway::Method').map(({ Properties }) => Properties)
    expect(methods).toHaveLength(SERVED.length)
    const open = methods.filter(
      ({ AuthorizationType, AuthorizerId }) =>
        AuthorizationType !== 'CUSTOM' || JSON.stringify(AuthorizerId) !== JSON.stringify({ Ref: authorizer?.id }),
    )
    expect(open).toEqual([expect.objectContaining({ AuthorizationType: 'NONE', HttpMethod: 'POST' })])
    expect(JSON.stringify(open[0]?.Integration)).toContain('answercallback')
  })

  test('what is denied is answered as by a place that knows nobody', () => {
    expect(answers(made).get('ACCESS_DENIED')).toMatchObject({ status: 401, code: 'unauthenticated' })
  })
})

describe('with sluice:auth iam', () => {
  let made: Assembly
  beforeAll(async () => {
    made = await assembled()
  }, 240_000)

  test('there is no authorizer, nor its function', () => {
    expect(made.all('AWS::ApiGateway::Authorizer')).toEqual([])
    const names = made.all('AWS::Lambda::Function').map(({ Properties }) => JSON.stringify(Properties.FunctionName))
    expect(names.filter((name) => name.includes('authorize'))).toEqual([])
  })

  test('what API Gateway answers by itself is a problem without a name of ours', () => {
    const told = answers(made)
    expect([...told].map(([type, { status, code }]) => `${type} ${status} ${code}`).toSorted()).toEqual([
      'ACCESS_DENIED 403 access_denied',
      'AUTHORIZER_CONFIGURATION_ERROR 503 authorizer_failed',
      'AUTHORIZER_FAILURE 503 authorizer_failed',
      'EXPIRED_TOKEN 403 signature_refused',
      'INVALID_SIGNATURE 403 signature_refused',
      'MISSING_AUTHENTICATION_TOKEN 403 unsigned_or_unknown',
      'QUOTA_EXCEEDED 429 throttled',
      'REQUEST_TOO_LARGE 413 body_too_large',
      'THROTTLED 429 throttled',
      'UNAUTHORIZED 401 unauthenticated',
    ])
    expect(JSON.stringify([...told])).not.toMatch(/arn:|sluice-dev|requestId|stack"/)
    // The one member that is filled in when it is answered.
    expect([...told].filter(([, { message }]) => message !== undefined).map(([type]) => type)).toEqual([
      'INVALID_SIGNATURE',
      'EXPIRED_TOKEN',
      'MISSING_AUTHENTICATION_TOKEN',
    ])
  })
})

interface Told {
  readonly status: number
  readonly code: string
  readonly message?: string
}

/** What each gateway response answers, with AWS's words in it. */
function answers(made: Assembly): ReadonlyMap<string, Told> {
  return new Map(
    made.all('AWS::ApiGateway::GatewayResponse').map(({ Properties }) => {
      const { ResponseType, StatusCode, ResponseTemplates, ResponseParameters } = Properties as {
        readonly ResponseType: string
        readonly StatusCode: string
        readonly ResponseTemplates: Readonly<Record<string, string>>
        readonly ResponseParameters: Readonly<Record<string, string>>
      }
      expect(ResponseParameters['gatewayresponse.header.Content-Type']).toBe("'application/problem+json'")
      const text = ResponseTemplates['application/json'] ?? ''
      const told = JSON.parse(text.replace('$context.error.messageString', '"said"')) as Told
      expect(String(told.status)).toBe(StatusCode)
      return [ResponseType, told] as const
    }),
  )
}
