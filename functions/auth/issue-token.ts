import type { Scope } from '../../shared/auth/scope.ts'
import { newToken, TOKEN_BYTES } from '../../shared/auth/token-text.ts'
import type { StoredToken } from '../../shared/auth/tokens-port.ts'
import { sha256 } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import type { World } from '../../shared/world.ts'

interface Wanted {
  readonly tenant: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly days: number
  readonly by: string
  readonly by_person?: string | undefined
  readonly person: string | undefined
  readonly client: 'mcp' | undefined
}

const DAY_MS = 86_400_000
/** Of 80 random bits: a second one is already a sign of something else. */
const MOST_TRIES = 3

/** Makes a token and keeps its hash; its text is nowhere but in the answer. Fault Unavailable token_ids_taken. */
export async function issueToken(
  { tokens, ids, clock }: Pick<World, 'tokens' | 'ids' | 'clock'>,
  { tenant, name, scopes, days, by, by_person, person, client }: Wanted,
): Promise<{ readonly stored: StoredToken; readonly text: string }> {
  const now = clock.now()
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { id, secret, text } = newToken(ids.random(TOKEN_BYTES.id), ids.random(TOKEN_BYTES.secret))
    const stored: StoredToken = {
      tenant,
      id,
      secret_sha256: sha256(secret),
      name,
      scopes,
      created_at: new Date(now).toISOString(),
      created_by: by,
      ...(by_person === undefined ? {} : { created_person: by_person }),
      ...(person === undefined ? {} : { person }),
      ...(client === undefined ? {} : { client }),
      expires_at: new Date(now + days * DAY_MS).toISOString(),
    }
    if (await tokens.put(stored)) return { stored, text }
  }
  throw new Fault('Unavailable', 'token_ids_taken', 'Cannot find a free id for the token. Try again.')
}
