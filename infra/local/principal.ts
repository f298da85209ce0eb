import { userInfo } from 'node:os'
import { MAIN_TENANT, type Principal } from '../../shared/principal.ts'

/** Who calls a server that only this machine reaches: the user it runs as, in the one tenant (decisions, "Ids"). */
export function localPrincipal(): Principal {
  return { kind: 'user', id: userName(), tenant: MAIN_TENANT, scopes: SCOPES }
}

const SCOPES = ['runs:read', 'runs:write', 'approvals:decide', 'safety:read', 'admin:stop']

/** A container's user id may have no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'local'
  }
}
