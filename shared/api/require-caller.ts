import { type Principal, principalName } from '../auth/principal.ts'
import { holdsScope, type Scope } from '../auth/scopes.ts'
import { Fault } from '../errors.ts'
import { ROUTES } from '../routes.ts'

/**
 * Who calls a route, when he may: 401 unauthenticated, 403 missing_scope. Asked before anything of the request is read:
 * who may not call learns nothing of what is there.
 */
export function requireCaller(principal: Principal | undefined, route: string): Principal {
  if (principal === undefined) {
    const message = 'Cannot tell who calls: send credentials this deployment accepts.'
    throw new Fault('Rejected', 'unauthenticated', message, { status: 401 })
  }
  const needed = requiredScope(route)
  if (needed === undefined || holdsScope(principal.scopes, needed)) return principal
  const has = principal.scopes.length === 0 ? 'none' : principal.scopes.join(', ')
  const message = `Cannot call ${route} as ${principalName(principal)}: it needs the scope ${needed}, and the credential has ${has}. Use one that has it.`
  throw new Fault('Rejected', 'missing_scope', message, { facts: { needed } })
}

/** What the caller of a route needs; undefined = to be somebody is enough. */
export function requiredScope(route: string): Scope | undefined {
  return NEEDED.get(route)
}

const NEEDED: ReadonlyMap<string, Scope | undefined> = new Map(ROUTES.map(({ name, scope }) => [name, scope]))
