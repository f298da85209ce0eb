/** Who calls: always from the authenticated caller, never from a body (spec approvals). */
export interface Principal {
  readonly kind: 'user' | 'slack' | 'iam' | 'token'
  readonly id: string
  readonly tenant: string
  readonly scopes: readonly string[]
}

/** The tenant every place has: whose callers are whom no credential puts elsewhere (docs/tokens.md, "Tenants"). */
export const MAIN_TENANT = 'main'

/** How a principal is written in events and approver lists: `user:ana`. */
export function principalName(principal: Principal): string {
  return `${principal.kind}:${principal.id}`
}
