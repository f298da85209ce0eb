import type { ShownToken } from './token-schema.ts'
import type { StoredToken } from './tokens-port.ts'

/** What its administrators see of a token at a time. */
export function showToken(token: StoredToken, now: number): ShownToken {
  const { id, tenant, name, scopes, created_at, created_by, created_person, expires_at, revoked, person, client } =
    token
  const ended = Date.parse(expires_at) <= now ? 'expired' : 'valid'
  return {
    token_id: id,
    tenant,
    name,
    scopes: [...scopes],
    state: revoked === undefined ? ended : 'revoked',
    created_at,
    created_by,
    ...(created_person === undefined ? {} : { created_person }),
    ...(person === undefined ? {} : { person }),
    ...(client === undefined ? {} : { client }),
    expires_at,
    ...(revoked === undefined ? {} : { revoked_at: revoked.at, revoked_by: revoked.by }),
    ...(revoked?.person === undefined ? {} : { revoked_person: revoked.person }),
  }
}
