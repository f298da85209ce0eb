import * as z from 'zod'
import { base32 } from '../text/hash.ts'
import { SCOPES, type Scope } from './scopes.ts'

/** A token as it is kept: of its secret only the hash. */
export interface StoredToken {
  readonly tenant: string
  readonly id: string
  /** sha256 of the secret's text, lower-case hex. */
  readonly secret_sha256: string
  /** For people; two may have the same. */
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly created_at: string
  readonly created_by: string
  /** Who that is, where it is another name of theirs. */
  readonly created_person?: string | undefined
  /** Whose it is: votes of all tokens of a person are one. Absent: the person cannot be told. */
  readonly person?: string | undefined
  /** Made for this kind of client alone. */
  readonly client?: 'mcp' | undefined
  readonly expires_at: string
  readonly revoked?: Revoked | undefined
}

/** By whom a token was made invalid, and when. */
interface Revoked {
  readonly at: string
  readonly by: string
  /** Who that is, where it is another name of theirs. */
  readonly person?: string | undefined
}

/** Bearer tokens. Suite: test/conformance/tokens-suite.ts. */
export interface Tokens {
  /** False: there is another one of this id. The same once more is true. */
  put(token: StoredToken): Promise<boolean>
  /** Whoever's it is: who asks does not know the tenant yet. */
  get(id: string): Promise<StoredToken | undefined>
  /** Of a tenant, in the order of their ids; those that expired KEPT_DAYS ago may be gone. */
  list(tenant: string): Promise<readonly StoredToken[]>
  /** Answers the token as it is then: who revoked it first stays. Undefined: the tenant has none of this id. */
  revoke(tenant: string, id: string, revoked: Revoked): Promise<StoredToken | undefined>
}

/** How long a token that expired is still listed: with who made and revoked it, the record of the credentials there were. */
export const KEPT_DAYS = 400

/** What a token is made of; the secret is seen once, by who made it. */
interface TokenParts {
  readonly id: string
  readonly secret: string
}

/** Of the 80 bits of the id and the 160 of the secret. */
export const TOKEN_BYTES: { readonly id: number; readonly secret: number } = { id: 10, secret: 20 }

const ID_CHARS = 16
const SECRET_CHARS = 32

/** A new token of random bytes, so many as TOKEN_BYTES says. */
export function newToken(id: Uint8Array, secret: Uint8Array): TokenParts & { readonly text: string } {
  const parts = { id: base32(id, ID_CHARS), secret: base32(secret, SECRET_CHARS) }
  return { ...parts, text: `slu_${parts.id}_${parts.secret}` }
}

/** The parts of `slu_<id>_<secret>`; undefined where a text is no such token. */
export function readToken(text: string): TokenParts | undefined {
  const [, id, secret] = TOKEN.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

const TOKEN = /^slu_([0-9a-hjkmnp-tv-z]{16})_([0-9a-hjkmnp-tv-z]{32})$/

const text = z.string()

/** A token as it is shown: nothing of its secret. */
export const TokenSchema = z.strictObject({
  token_id: text,
  tenant: text,
  name: text,
  scopes: z.array(z.enum(SCOPES)),
  state: z.enum(['valid', 'expired', 'revoked']),
  created_at: text,
  created_by: text.describe('Who made it, as authenticated'),
  created_person: text.optional().describe('Who that is, where it is another name of theirs'),
  person: text.optional().describe('Whose it is: all tokens of a person are one voter; absent: nobody can tell'),
  client: z.literal('mcp').optional().describe('Made for this kind of client'),
  expires_at: text,
  revoked_at: text.optional(),
  revoked_by: text.optional().describe('Who made it invalid, as authenticated; the first of several'),
  revoked_person: text.optional().describe('Who that is, where it is another name of theirs'),
})
export type ShownToken = z.infer<typeof TokenSchema>

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
