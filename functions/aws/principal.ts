import * as z from 'zod'
import { authorizedPrincipal } from '../../shared/auth/authorizer-answer.ts'
import { SCOPES } from '../../shared/auth/scope.ts'
import { MAIN_TENANT, type Principal } from '../../shared/principal.ts'

/**
 * Who calls, from what API Gateway's authorizer found (never from headers or body). Of IAM: an assumed role is `iam:<role
 * name>`, an IAM user `iam:user/<name>`, the account itself `iam:root`; callers of another account have its number in
 * front, so that a role of the same name there is somebody else. Undefined = nobody was authenticated. IAM policies
 * decide which routes a caller reaches, so every scope is given. `tenants`: which of these names are of which tenant; the
 * others are of the main one. `people`: roles whose sessions are named after persons (docs/tokens.md, "Persons").
 */
export function principalOf(
  event: unknown,
  tenants: Tenants = {},
  people: readonly string[] = [],
): Principal | undefined {
  return (
    authorizedPrincipal(AuthorizedSchema.safeParse(event).data?.requestContext.authorizer) ??
    signer(event, tenants, people)
  )
}

type Tenants = Readonly<Record<string, string>>

/** Of a deployment whose callers come with a bearer credential: the context its authorizer answered. */
const AuthorizedSchema = z.object({ requestContext: z.object({ authorizer: z.unknown() }) })

function signer(event: unknown, tenants: Tenants, people: readonly string[]): Principal | undefined {
  const parsed = CallerSchema.safeParse(event)
  if (!parsed.success) return undefined
  const { accountId, identity } = parsed.data.requestContext
  const [, account, rest] = /^arn:aws[a-z-]*:(?:iam|sts)::(\d{12}):(.+)$/.exec(identity.userArn) ?? []
  const name = rest === undefined ? undefined : nameOf(rest)
  if (name === undefined) return undefined
  const id = account === accountId ? name : `${account}/${name}`
  const tenant = Object.hasOwn(tenants, id) ? tenants[id] : undefined
  const session = /^assumed-role\/[^/]+\/(.+)$/.exec(rest ?? '')?.[1]
  const isPerson = session !== undefined && people.some((pattern) => matches(pattern, id))
  const person = isPerson ? { person: `user:${session}` } : {}
  return { kind: 'iam', id, tenant: tenant ?? MAIN_TENANT, scopes: SCOPES, via: 'iam', ...person }
}

const CallerSchema = z.object({
  requestContext: z.object({ accountId: z.string(), identity: z.object({ userArn: z.string() }) }),
})

/** A role by name, or by how its name begins: `AWSReservedSSO_*`. */
function matches(pattern: string, id: string): boolean {
  return pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern
}

/** The session's name is the caller's own choice, so it says nothing of the name, and of the person only where the settings vouch for the role; a user's path is no part of its name. */
function nameOf(rest: string): string | undefined {
  const parts = rest.split('/')
  const [kind] = parts
  if (kind === 'assumed-role') return parts[1]
  if (kind === 'user' || kind === 'federated-user') return `${kind}/${parts.at(-1)}`
  return rest === 'root' ? rest : undefined
}
