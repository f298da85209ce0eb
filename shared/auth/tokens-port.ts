import type { Scope } from './scope.ts'

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
export interface Revoked {
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
