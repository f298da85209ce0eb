/**
 * What a credential may do (docs/tokens.md, "Scopes"). Callers whom IAM authenticated have all: IAM's policies decide
 * there.
 */
export const SCOPES = [
  'runs:read',
  'runs:start',
  'runs:author',
  'runs:write',
  'approvals:decide',
  'events:send',
  'safety:read',
  'admin:stop',
  'admin:spending',
  'admin:tokens',
  'stage:export',
  'stage:import',
  'admin:erase',
  'admin:hold',
] as const

export type Scope = (typeof SCOPES)[number]

/** `runs:write` is the older scope over both of these; it goes on to mean them. */
const OF_WRITE: readonly Scope[] = ['runs:start', 'runs:author']

export function holdsScope(scopes: readonly string[], needed: Scope): boolean {
  return scopes.includes(needed) || (OF_WRITE.includes(needed) && scopes.includes('runs:write'))
}
