/** What a credential may do (spec security, "API"). Callers whom IAM authenticated have all: IAM's policies decide there. */
export const SCOPES = [
  'runs:read',
  'runs:write',
  'approvals:decide',
  'safety:read',
  'admin:stop',
  'admin:tokens',
] as const
export type Scope = (typeof SCOPES)[number]
