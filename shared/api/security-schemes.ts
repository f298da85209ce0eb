import type { AuthSettings } from '../auth/auth-settings.ts'
import type { Scope } from '../auth/scope.ts'

/** How callers of a place prove who they are; `none` = it asks for no login. */
export type AuthMode = 'none' | 'iam' | AuthSettings['mode']

/** OpenAPI's word for it, if there is one. */
export function securitySchemes(mode: AuthMode): Readonly<Record<string, object>> {
  return mode === 'none' ? {} : { [NAMES[mode]]: SCHEMES[mode] }
}

/** What a caller of one route needs; of the scheme that IAM's policies decide no scopes are told. */
export function securityOf(mode: AuthMode, scope: Scope | undefined): readonly Readonly<Record<string, string[]>>[] {
  if (mode === 'none') return []
  return [{ [NAMES[mode]]: scope === undefined || mode === 'iam' ? [] : [scope] }]
}

const NAMES = { iam: 'sigv4', token: 'bearer', jwt: 'bearer' } as const

const SCHEMES: Readonly<Record<Exclude<AuthMode, 'none'>, object>> = {
  // As API Gateway itself writes it.
  iam: { type: 'apiKey', name: 'Authorization', in: 'header', 'x-amazon-apigateway-authtype': 'awsSigv4' },
  token: { type: 'http', scheme: 'bearer', bearerFormat: 'slu_<id>_<secret>' },
  jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
}
