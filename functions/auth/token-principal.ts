import { timingSafeEqual } from 'node:crypto'
import { readToken } from '../../shared/auth/token-text.ts'
import type { StoredToken } from '../../shared/auth/tokens-port.ts'
import { sha256 } from '../../shared/canonical.ts'
import type { Principal } from '../../shared/principal.ts'
import type { World } from '../../shared/world.ts'

/** Whom a token of ours stands for; undefined when it is unknown, wrong, expired or revoked. */
export async function tokenPrincipal(
  text: string,
  { tokens, clock }: Pick<World, 'tokens' | 'clock'>,
): Promise<Principal | undefined> {
  const parts = readToken(text)
  if (parts === undefined) return undefined
  const token = await tokens.get(parts.id)
  // Of an unknown id a hash is compared too: it takes as long as a wrong secret.
  const matches = sameHash(sha256(parts.secret), token?.secret_sha256 ?? NO_HASH)
  if (token === undefined || !matches) return undefined
  if (token.revoked !== undefined || Date.parse(token.expires_at) <= clock.now()) return undefined
  const { id, tenant, scopes, client } = token
  return { kind: 'token', id, tenant, scopes, person: ownerOf(token), via: client ?? 'token' }
}

/** No secret has it: it is not the hash of any text we write. */
const NO_HASH = '0'.repeat(64)

function sameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'))
}

/** A token of before persons were kept is its maker's, where that was a person. */
function ownerOf({ person, created_by }: StoredToken): string | undefined {
  return person ?? (created_by.startsWith('user:') ? created_by : undefined)
}
