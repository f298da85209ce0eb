import type { Principal } from '../../shared/principal.ts'
import type { World } from '../../shared/world.ts'
import { jwtPrincipal } from './jwt-principal.ts'
import { tokenPrincipal } from './token-principal.ts'

/**
 * The caller an Authorization header names; undefined = nobody this place knows. Of a tenant that is not in the settings
 * nobody is known, whatever a credential says.
 */
export async function bearerPrincipal(header: string, world: World): Promise<Principal | undefined> {
  const [, credential] = /^bearer ([\x21-\x7e]{1,8192})$/i.exec(header) ?? []
  const { auth, tenants } = world.settings
  if (credential === undefined || auth === undefined) return undefined
  const principal = await (auth.mode === 'token'
    ? tokenPrincipal(credential, world)
    : jwtPrincipal(credential, auth.jwt, world.clock.now()))
  return principal !== undefined && tenants.includes(principal.tenant) ? principal : undefined
}
