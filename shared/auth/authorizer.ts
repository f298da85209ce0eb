import * as z from 'zod'
import { type Principal, VIAS } from './principal.ts'
import { SCOPES } from './scopes.ts'

/** What an authorizer of API Gateway answers (type TOKEN, payload 1.0). Values of the context are plain texts. */
export interface AuthorizerAnswer {
  readonly principalId: string
  readonly policyDocument: {
    readonly Version: '2012-10-17'
    readonly Statement: readonly [
      { readonly Action: string; readonly Effect: 'Allow' | 'Deny'; readonly Resource: string },
    ]
  }
  readonly context?: Readonly<Record<string, string>>
}

/**
 * The answer for a caller, or for nobody. It is kept for a credential, whatever it calls (60 s), so it is about every method
 * of the stage: which of them a caller's scopes allow is the routes' own question.
 */
export function authorizerAnswer(principal: Principal | undefined, methodArn: string): AuthorizerAnswer {
  const Effect = principal === undefined ? 'Deny' : 'Allow'
  const Resource = `${methodArn.split('/').slice(0, 2).join('/')}/*`
  const policyDocument = {
    Version: '2012-10-17',
    Statement: [{ Action: 'execute-api:Invoke', Effect, Resource }],
  } as const
  if (principal === undefined) return { principalId: 'nobody', policyDocument }
  const { kind, id, tenant, scopes, person, via } = principal
  const context = { kind, id, tenant, scopes: scopes.join(' '), ...(person && { person }), ...(via && { via }) }
  return { principalId: `${kind}:${id}`, policyDocument, context }
}

/** Who calls, from the context of an authorizer's answer; undefined where it names nobody. */
export function authorizedPrincipal(context: unknown): Principal | undefined {
  const parsed = ContextSchema.safeParse(context)
  if (!parsed.success) return undefined
  const { scopes, ...rest } = parsed.data
  const given = scopes.split(' ')
  return { ...rest, scopes: SCOPES.filter((scope) => given.includes(scope)) }
}

/** API Gateway adds members of its own. */
const ContextSchema = z.object({
  kind: z.enum(['token', 'user']),
  id: z.string().min(1),
  tenant: z.string().min(1),
  scopes: z.string(),
  person: z.exactOptional(z.string().min(1)),
  via: z.exactOptional(z.enum(VIAS)),
})
