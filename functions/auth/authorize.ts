import { timingSafeEqual } from 'node:crypto'
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'
import * as z from 'zod'
import { authorizerAnswer } from '../../shared/auth/authorizer.ts'
import { MAIN_TENANT, type Principal } from '../../shared/auth/principal.ts'
import { SCOPES, type Scope } from '../../shared/auth/scopes.ts'
import type { JwtSettings } from '../../shared/auth/settings.ts'
import { readToken, type StoredToken } from '../../shared/auth/token.ts'
import { Fault } from '../../shared/errors.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'

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

/**
 * The caller an Authorization header names; undefined = nobody this place knows. Of a tenant that is not in the settings
 * nobody is known, whatever a credential says.
 */
async function bearerPrincipal(header: string, world: World): Promise<Principal | undefined> {
  const [, credential] = /^bearer ([\x21-\x7e]{1,8192})$/i.exec(header) ?? []
  const { auth, tenants } = world.settings
  if (credential === undefined || auth === undefined) return undefined
  const principal = await (auth.mode === 'token'
    ? tokenPrincipal(credential, world)
    : jwtPrincipal(credential, auth.jwt, world.clock.now()))
  return principal !== undefined && tenants.includes(principal.tenant) ? principal : undefined
}

/** Whom a token of ours stands for; undefined when it is unknown, wrong, expired or revoked. */
async function tokenPrincipal(
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

/**
 * Whom a JWT of the configured issuer stands for: `user:<sub>`, in the tenant its claim names (the main one where the
 * settings name no claim), with those of our scopes its claim names. Undefined when it is wrong in any way; Fault Unavailable issuer_unreachable when the issuer's keys cannot be read.
 */
async function jwtPrincipal(text: string, jwt: JwtSettings, now: number): Promise<Principal | undefined> {
  const { issuer, audience } = jwt
  const verified = await jwtVerify(text, keysOf(jwt), {
    issuer,
    audience: [audience].flat(),
    algorithms: ALGORITHMS,
    requiredClaims: ['exp', 'sub'],
    clockTolerance: SKEW_SEC,
    currentDate: new Date(now),
  }).catch(refused)
  const sub = verified?.payload.sub ?? ''
  if (verified === undefined || !/^[\x21-\x7e]{1,128}$/.test(sub)) return undefined
  const tenant = jwt.tenant_claim === undefined ? MAIN_TENANT : verified.payload[jwt.tenant_claim]
  if (typeof tenant !== 'string') return undefined
  const scopes = scopesOf(verified.payload, jwt.scopes_claim)
  if (jwt.person_claim === undefined) return { kind: 'user', id: sub, tenant, scopes, via: 'jwt' }
  // Without the claim nobody knows which person comes, and one that is no name is a wrong credential.
  const person = verified.payload[jwt.person_claim]
  if (typeof person !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(person)) return undefined
  return { kind: 'user', id: sub, tenant, scopes, via: 'jwt', person: `user:${person}` }
}

/** With keys of two halves: who checks a token could not make one. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']

/** Between our clock and the issuer's. */
const SKEW_SEC = 5

type Keys = ReturnType<typeof createRemoteJWKSet>

/** Kept by this process: read again after ten minutes, or for a key it does not hold, at most once in thirty seconds. */
const KEYS = new Map<string, Keys>()

function keysOf({ issuer, jwks_url = `${issuer.replace(/\/$/, '')}/.well-known/jwks.json` }: JwtSettings): Keys {
  const kept = KEYS.get(jwks_url)
  if (kept !== undefined) return kept
  const keys = createRemoteJWKSet(new URL(jwks_url), {
    timeoutDuration: 5_000,
    cooldownDuration: 30_000,
    cacheMaxAge: 600_000,
  })
  KEYS.set(jwks_url, keys)
  return keys
}

function refused(cause: unknown): undefined {
  if (OF_THE_TOKEN.some((kind) => cause instanceof kind)) return undefined
  const message = "Cannot check who calls: the issuer's keys (auth.jwt.jwks_url) cannot be read. Try again."
  throw new Fault('Unavailable', 'issuer_unreachable', message, { cause })
}

const OF_THE_TOKEN = [
  errors.JWTExpired,
  errors.JWTClaimValidationFailed,
  errors.JWTInvalid,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
]

function scopesOf(payload: JWTPayload, claim: string): readonly Scope[] {
  const told = payload[claim]
  const given = typeof told === 'string' ? told.split(' ') : told
  return Array.isArray(given) ? SCOPES.filter((scope) => given.includes(scope)) : []
}
