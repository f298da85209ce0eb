import type { Declared } from './declared-client.ts'

/** Who calls: always from the authenticated caller, never from a body (docs/tokens.md). */
export interface Principal {
  readonly kind: 'user' | 'slack' | 'iam' | 'token' | 'trigger'
  readonly id: string
  readonly tenant: string
  readonly scopes: readonly string[]
  /** The person behind it, as `user:ana`, where that is not its own name: of a token, of a session of a role. */
  readonly person?: string | undefined
  /** Of a trigger: somebody fired it by hand, and who that is cannot be told. */
  readonly unknown_person?: true
  /** By what the place saw it come. */
  readonly via?: Via | undefined
}

/**
 * What a place saw of how somebody came, by what it issued or checked itself: `local` a connection of this machine,
 * `console` a page this server gave its session to, `mcp` a token made for an MCP client; `api` where it cannot tell.
 */
export const VIAS = ['local', 'console', 'token', 'mcp', 'jwt', 'iam', 'slack', 'api'] as const
type Via = (typeof VIAS)[number]

/** How a decision came, for people: `via local (declared: cli --yes)`. */
export function viaWords(via: string, declared: Declared | undefined): string {
  if (declared === undefined) return `via ${via}`
  return `via ${via} (declared: ${declared.client}${declared.yes === true ? ' --yes' : ''})`
}

/** The tenant every place has: whose callers are whom no credential puts elsewhere (docs/tokens.md, "Tenants"). */
export const MAIN_TENANT = 'main'

/** How a principal is written in events and approver lists: `user:ana`. */
export function principalName(principal: Pick<Principal, 'kind' | 'id'>): string {
  return `${principal.kind}:${principal.id}`
}

/**
 * The person a principal is; undefined where that cannot be told: many may share a role of IAM, and a token whose maker
 * was such a role is anybody's. Users of whatever kind are persons by themselves.
 */
export function personName(principal: Principal): string | undefined {
  if (principal.unknown_person === true) return undefined
  if (principal.person !== undefined) return principal.person
  const isShared = principal.kind === 'token' || (principal.kind === 'iam' && !IAM_USER.test(principal.id))
  return isShared ? undefined : principalName(principal)
}

/** The person a principal is where that is not its own name: what is recorded beside it. */
export function otherPersonName(principal: Principal): string | undefined {
  const person = personName(principal)
  return person === principalName(principal) ? undefined : person
}

/** An IAM user, with the number of its account before it where that is another one. */
const IAM_USER = /^(\d{12}\/)?user\//
