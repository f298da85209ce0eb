import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const revokedLetIn: Mutant = {
  name: 'revoked-let-in',
  what: 'a token is let in though it was revoked',
  world: (world, name) =>
    name === 'authorize' ? withPorts(world, { tokens: { ...world.tokens, get: unrevoked(world.tokens) } }) : world,
}

type Tokens = Parameters<NonNullable<Mutant['world']>>[0]['tokens']

function unrevoked({ get }: Tokens): Tokens['get'] {
  return async (id) => {
    const token = await get(id)
    return token && { ...token, revoked: undefined }
  }
}
