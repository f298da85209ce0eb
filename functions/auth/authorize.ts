import * as z from 'zod'
import { authorizerAnswer } from '../../shared/auth/authorizer-answer.ts'
import { functionHandler } from '../handler.ts'
import { bearerPrincipal } from './bearer-principal.ts'

/**
 * Who a bearer credential is, asked before a route is called: by API Gateway (authorizer, type TOKEN), and by the local
 * server where the settings want a login. Whatever is wrong with a credential, the answer is the same Deny.
 */
export const handler = functionHandler({
  name: 'authorize',
  input: z.object({ authorizationToken: z.string(), methodArn: z.string() }),
  run: async ({ authorizationToken, methodArn }, world) =>
    authorizerAnswer(await bearerPrincipal(authorizationToken, world), methodArn),
})
