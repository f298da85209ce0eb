import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { type AuthorizerAnswer, authorizedPrincipal } from '../../shared/auth/authorizer.ts'
import { MAIN_TENANT, type Principal } from '../../shared/auth/principal.ts'
import { SCOPES } from '../../shared/auth/scopes.ts'
import { Fault } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { World } from '../../shared/world.ts'
import type { Host } from './host.ts'

interface LoginParts {
  readonly settings: Pick<Settings, 'auth' | 'data_dir' | 'tenants'>
  readonly host: Host
  readonly world: Pick<World, 'tokens' | 'clock' | 'log'>
  /** Who owns the place, and so makes the first token of each tenant. */
  readonly principal: Principal
}

/**
 * The login of a local place whose settings ask for one: the function that API Gateway asks on AWS is asked here, and its
 * answer is read as there. Of each tenant without a token that may make others one is made and written into the data folder.
 */
export async function openLoginWithFirstTokens(
  parts: LoginParts,
): Promise<(authorization: string) => Promise<Principal | undefined>> {
  const tenants = parts.settings.auth?.mode === 'token' ? parts.settings.tenants : []
  for (const tenant of tenants) await makeFirst(parts, tenant)
  return async (authorizationToken) => {
    // The catalog's function answers this shape (functions/auth/authorize.ts).
    const answer = (await parts.host.invoke('authorize', { authorizationToken, methodArn: METHOD })) as AuthorizerAnswer
    return answer.policyDocument.Statement[0].Effect === 'Allow' ? authorizedPrincipal(answer.context) : undefined
  }
}

/** Where the first tokens of its tenants lie: files that were written by this start or an earlier one. */
export function firstTokenFiles({ auth, data_dir, tenants }: LoginParts['settings']): readonly string[] {
  if (auth?.mode !== 'token') return []
  return tenants.map((tenant) => join(data_dir, fileOf(tenant))).filter((file) => existsSync(file))
}

/** As API Gateway names a method; the answer is about all of them. */
const METHOD = 'arn:aws:execute-api:local:000000000000:sluice/local/GET/api'

/** Holds the text of a tenant's first token; only its owner may read it. */
function fileOf(tenant: string): string {
  return tenant === MAIN_TENANT ? 'first-token' : `first-token-${tenant}`
}

async function makeFirst({ settings, host, world, principal }: LoginParts, tenant: string): Promise<void> {
  const now = world.clock.now()
  const tokens = await world.tokens.list(tenant)
  const isThere = tokens.some(
    ({ scopes, revoked, expires_at }) =>
      scopes.includes('admin:tokens') && revoked === undefined && Date.parse(expires_at) > now,
  )
  if (isThere) return
  const event = {
    httpMethod: 'POST',
    path: '/api/tokens',
    pathParameters: null,
    queryStringParameters: null,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'first token of this place', scopes: SCOPES }),
    isBase64Encoded: false,
  }
  // Every route is made by functions/http-handler.ts, which answers this shape.
  const { statusCode, body } = (await host.invoke('create-token', event, { principal: { ...principal, tenant } })) as {
    readonly statusCode: number
    readonly body: string
  }
  if (statusCode !== 201) throw new Fault('Bug', 'no_first_token', `Cannot make the first token: ${body}`)
  const file = join(settings.data_dir, fileOf(tenant))
  writeFileSync(file, `${JSON.parse(body).token}\n`, { mode: 0o600 })
  world.log.info('first token made', { file })
}

/** The secret of one start, which every call is asked for where the settings name no other login (docs/tokens.md). */
export function makeLoginSecret(): string {
  return randomBytes(24).toString('base64url')
}

/**
 * Writes it where commands of the same user look, under the port it belongs to: sent anywhere else it would be whoever's
 * listens there.
 */
export function writeLoginSecret(
  dataDir: string,
  port: number,
  secret: string,
): { readonly file: string; forget(): void } {
  const file = join(dataDir, `login-${port}`)
  writeFileSync(file, `${secret}\n`, { mode: 0o600 })
  return { file, forget: () => rmSync(file, { force: true }) }
}

/** What an earlier start left, if it was killed, opens nothing any more. */
export function removeLoginSecrets(dataDir: string): void {
  const kept = readdirSync(dataDir).filter((name) => /^login-\d+$/.test(name))
  for (const name of kept) rmSync(join(dataDir, name), { force: true })
}

/** Who calls a server that only this machine reaches: the user it runs as, in the main tenant. */
export function localPrincipal(): Principal {
  return { kind: 'user', id: userName(), tenant: MAIN_TENANT, scopes: SCOPES, via: 'local' }
}

/** A container's user id may have no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'local'
  }
}
