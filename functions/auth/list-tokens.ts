import { TOKEN_ROUTES } from '../../shared/api/token-routes.ts'
import { showToken } from '../../shared/auth/token.ts'
import { httpHandler } from '../http-handler.ts'

export const handler = httpHandler({
  name: 'list-tokens',
  schema: TOKEN_ROUTES['list-tokens'],
  async run({ principal }, { tokens, clock }) {
    const stored = await tokens.list(principal.tenant)
    const newest = stored.toSorted((a, b) => b.created_at.localeCompare(a.created_at) || a.id.localeCompare(b.id))
    return { json: { tokens: newest.map((token) => showToken(token, clock.now())) } }
  },
})
