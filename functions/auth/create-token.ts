import { TOKEN_ROUTES } from '../../shared/api/token-routes.ts'
import { MAIN_TENANT, otherPersonName, type Principal, personName, principalName } from '../../shared/auth/principal.ts'
import { holdsScope, type Scope } from '../../shared/auth/scopes.ts'
import { newToken, type StoredToken, showToken, TOKEN_BYTES } from '../../shared/auth/token.ts'
import { Fault } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'

export const handler = changeHandler({
  name: 'create-token',
  schema: TOKEN_ROUTES['create-token'],
  async run({ body, principal }, world) {
    requireHeld(principal, body.scopes)
    const { stored, text } = await issueToken(world, {
      tenant: tenantFor(principal, body.tenant, world.settings),
      name: body.name,
      scopes: body.scopes,
      days: body.expires_in_days,
      by: principalName(principal),
      by_person: otherPersonName(principal),
      person: personFor(principal, body.person, world.settings),
      client: body.client,
    })
    return { json: { ...showToken(stored, world.clock.now()), token: text } }
  },
})

/** Else who may make tokens could do everything. */
function requireHeld(principal: Principal, wanted: readonly Scope[]): void {
  const lacking = wanted.filter((scope) => !holdsScope(principal.scopes, scope))
  if (lacking.length === 0) return
  const message = `Cannot make a token with ${lacking.join(', ')} as ${principalName(principal)}: a token has no scope that its maker lacks. Leave it out, or use a credential that has it.`
  throw new Fault('Rejected', 'scope_not_held', message, { facts: { lacking } })
}

/**
 * A token is of its maker's tenant. The first of another one is made by an operator: a caller of the main tenant where no
 * bearer credential is asked for, and so one that AWS's policies, or the owner of the folder, let in. Whoever else names
 * another tenant is not told whether there is one.
 */
function tenantFor(
  principal: Principal,
  wanted: string | undefined,
  { auth, tenants }: Pick<Settings, 'auth' | 'tenants'>,
): string {
  if (wanted === undefined || wanted === principal.tenant) return principal.tenant
  if (auth !== undefined || principal.tenant !== MAIN_TENANT) throw foreignTenant(principal, wanted)
  if (tenants.includes(wanted)) return wanted
  const message = `Cannot make a token of tenant "${wanted}": there is none of this name; allowed: ${tenants.join(', ')}. Add it to the tenants of this place (docs/tokens.md, "Tenants").`
  throw new Fault('InvalidInput', 'unknown_tenant', message, { facts: { tenants } })
}

/**
 * A token is its maker's own: two that one person makes are one voter. For somebody else it is made by an operator, as of
 * another tenant: else who may make tokens could be as many people as a quorum asks for.
 */
function personFor(
  principal: Principal,
  wanted: string | undefined,
  { auth }: Pick<Settings, 'auth'>,
): string | undefined {
  const own = personName(principal)
  if (wanted === undefined || wanted === own) return own
  if (auth === undefined && principal.tenant === MAIN_TENANT) return wanted
  const message = `Cannot make a token of ${wanted} as ${principalName(principal)}: a credential makes tokens of its own person alone${own === undefined ? '' : ` (${own})`}. Leave the person out, or ask who runs this place (docs/tokens.md, "Persons").`
  throw new Fault('Rejected', 'person_not_held', message)
}

function foreignTenant(principal: Principal, wanted: string): Fault {
  const message = `Cannot make a token of tenant "${wanted}" as ${principalName(principal)}: a credential makes tokens of its own tenant alone. Leave the tenant out, or ask who runs this place.`
  return new Fault('Rejected', 'tenant_not_held', message)
}

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
