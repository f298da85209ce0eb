import type { IncomingMessage } from 'node:http'
import { ACCOUNT, REGION } from '../emulators/aws-client.ts'
import type { DeployedTemplates } from './template.ts'

/** What an authorizer said of a request: a context for the function, or the gateway's answer. */
export type Asked = { readonly context: Readonly<Record<string, unknown>> } | { readonly refused: GatewayAnswer }

export interface GatewayAnswer {
  readonly status: number
  readonly type: string
  readonly body: string
}

interface AuthorizerAnswer {
  readonly principalId: string
  readonly policyDocument: { readonly Statement: readonly { readonly Effect: string; readonly Resource: string }[] }
  readonly context?: Readonly<Record<string, unknown>>
}

/**
 * The authorizer of the template, type TOKEN, as API Gateway asks it: what does not fit its expression is refused unasked,
 * an answer is kept for a credential as long as the template says, and its policy must be about the method.
 */
export function openAuthorizer(
  templates: DeployedTemplates,
  stage: string,
  call: (functionArn: string, event: unknown) => Promise<unknown>,
) {
  const [authorizer] = templates.all('AWS::ApiGateway::Authorizer')
  const {
    IdentityValidationExpression = '',
    AuthorizerResultTtlInSeconds,
    AuthorizerUri,
  } = authorizer?.properties ?? {}
  const [, functionArn = ''] = /\/functions\/(arn:[^/]+)\//.exec(String(AuthorizerUri)) ?? []
  const fits = new RegExp(String(IdentityValidationExpression))
  const keptMs = Number(AuthorizerResultTtlInSeconds) * 1_000
  const kept = new Map<string, { readonly until: number; readonly answer: AuthorizerAnswer }>()
  const counts = { asked: 0 }

  async function answerFor(authorizationToken: string, methodArn: string): Promise<AuthorizerAnswer> {
    const known = kept.get(authorizationToken)
    if (known !== undefined && known.until > Date.now()) return known.answer
    counts.asked += 1
    // The function's answer; anything else fails the test where it is read.
    const answer = (await call(functionArn, { type: 'TOKEN', authorizationToken, methodArn })) as AuthorizerAnswer
    kept.set(authorizationToken, { until: Date.now() + keptMs, answer })
    return answer
  }
  return {
    counts,
    /** As 60 seconds later. */
    forget: () => kept.clear(),
    async ask(request: IncomingMessage, path: string): Promise<Asked> {
      const { authorization = '' } = request.headers
      if (!fits.test(authorization)) return { refused: answerOf(templates, 'UNAUTHORIZED') }
      const methodArn = `arn:aws:execute-api:${REGION}:${ACCOUNT}:api/${stage}/${request.method}${path}`
      const { principalId, policyDocument, context } = await answerFor(authorization, methodArn)
      const [statement] = policyDocument.Statement
      const isAbout = statement !== undefined && methodArn.startsWith(statement.Resource.replace(/\*$/, ''))
      if (!isAbout || statement.Effect !== 'Allow') return { refused: answerOf(templates, 'ACCESS_DENIED') }
      return { context: { principalId, ...context } }
    },
  }
}

function answerOf(templates: DeployedTemplates, type: string): GatewayAnswer {
  const found = templates
    .all('AWS::ApiGateway::GatewayResponse')
    .find(({ properties }) => properties.ResponseType === type)
  const { StatusCode, ResponseTemplates, ResponseParameters } = (found?.properties ?? {}) as {
    readonly StatusCode: string
    readonly ResponseTemplates: Readonly<Record<string, string>>
    readonly ResponseParameters: Readonly<Record<string, string>>
  }
  return {
    status: Number(StatusCode),
    type: String(ResponseParameters['gatewayresponse.header.Content-Type']).replaceAll("'", ''),
    body: String(ResponseTemplates['application/json']),
  }
}
