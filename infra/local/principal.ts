import { userInfo } from 'node:os'
import { SCOPES } from '../../shared/auth/scope.ts'
import { MAIN_TENANT, type Principal } from '../../shared/principal.ts'

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
