import { TOKEN_ROUTES } from '../../shared/api/token-routes.ts'
import { otherPersonName, principalName } from '../../shared/auth/principal.ts'
import { showToken } from '../../shared/auth/token.ts'
import { Fault } from '../../shared/errors.ts'
import { changeHandler } from '../http-handler.ts'

/** One that expired may be revoked too; who revoked it first stays. */
export const handler = changeHandler({
  name: 'revoke-token',
  schema: TOKEN_ROUTES['revoke-token'],
  async run({ params, principal }, { tokens, clock }) {
    const now = clock.now()
    const person = otherPersonName(principal)
    const revoked = {
      ...{ at: new Date(now).toISOString(), by: principalName(principal) },
      ...(person === undefined ? {} : { person }),
    }
    const token = await tokens.revoke(principal.tenant, params.token_id, revoked)
    if (token !== undefined) return { json: showToken(token, now) }
    const message = `Cannot revoke token "${params.token_id}": there is none of this id. \`sluice token list\` shows them.`
    throw new Fault('NotFound', 'unknown_token', message)
  },
})
