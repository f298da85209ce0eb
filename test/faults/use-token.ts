import type { AuthorizerAnswer } from '../../shared/auth/authorizer.ts'
import type { Act } from './acts.ts'
import { callRoute, type Reply } from './call-route.ts'
import type { System } from './system.ts'

/** Whoever was told that a token is revoked may rely on it so long later (spec/security.md), whichever clock is wrong. */
const REVOKED_WITHIN_MS = 60_000
const METHOD = 'arn:aws:execute-api:eu-central-1:111111111111:api/dev/GET/api/dag/runs'

interface Made {
  readonly system: System
  readonly tenant: string
  readonly token_id: string
  readonly token: string
  wrong(what: string): void
}

/**
 * Somebody makes a token, comes with it, looks at the list and mostly takes it back. One that was answered is of its
 * maker's tenant and nobody else's, a wrong secret is nobody, and none is let in that was revoked.
 */
export async function useToken(system: System, { id, dice }: Act, tenant: string): Promise<void> {
  const body = { name: `token ${id}`, scopes: ['runs:read'] }
  const made = await callRoute(system, 'create-token', { tenant, params: {}, body })
  if (made?.status !== 201) return
  const wrong = (what: string) => system.sim.violate('credentials', `${what} (token ${id} of ${tenant})`)
  const one: Made = { system, tenant, token_id: textOf(made, 'token_id'), token: textOf(made, 'token'), wrong }
  const caller = await callerOf(one, one.token)
  if (caller !== undefined && caller !== `${tenant} runs:read`) wrong(`its caller is ${caller}`)
  const guessed = await callerOf(
    one,
    one.token.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
  )
  if (guessed !== undefined && guessed !== NOBODY) wrong(`with a wrong secret one is ${guessed}`)
  await lookAround(one)
  if (dice[0] < 0.8) await takeBack(one)
}

function textOf({ json }: Reply, name: string): string {
  const text = json[name]
  if (typeof text !== 'string') throw new Error(`the answer has no ${name}: ${JSON.stringify(json)}`)
  return text
}

async function lookAround({ system, tenant, token_id, token, wrong }: Made): Promise<void> {
  const list = (of: string) => callRoute(system, 'list-tokens', { tenant: of, params: {} })
  const own = await list(tenant)
  const shown = JSON.stringify(own?.json ?? {})
  if (shown.includes(token.slice(-20))) wrong('the list has its secret')
  if (own?.status === 200 && !shown.includes(token_id)) wrong('its own tenant is not shown it')
  const other = tenant === 'main' ? 'other' : 'main'
  const foreign = JSON.stringify((await list(other))?.json ?? {})
  if (foreign.includes(token_id)) wrong(`${other} is shown it`)
  const stolen = await callRoute(system, 'revoke-token', { tenant: other, params: { token_id } })
  if (stolen !== undefined && stolen.status < 300) wrong(`${other} may revoke it`)
}

async function takeBack(one: Made): Promise<void> {
  const { system, tenant, token_id, token, wrong } = one
  const revoked = await callRoute(system, 'revoke-token', { tenant, params: { token_id } })
  if (revoked?.status !== 200) return
  await system.sim.scheduler.delay(REVOKED_WITHIN_MS)
  const caller = await callerOf(one, token)
  if (caller !== undefined && caller !== NOBODY) wrong('it is let in though it was revoked')
}

const NOBODY = 'nobody'

/** `<tenant> <scopes>`, or nobody; undefined: the authorizer gave no answer. */
async function callerOf({ system, tenant }: Made, token: string): Promise<string | undefined> {
  const payload = { type: 'TOKEN', authorizationToken: `Bearer ${token}`, methodArn: METHOD }
  const answer = await system.functions
    .invoke('authorize', payload, { from: 'route', who: `authorize(${tenant})` })
    .catch(() => undefined)
  if (answer === undefined) return undefined
  const { context } = answer as AuthorizerAnswer
  return context === undefined ? NOBODY : `${context.tenant} ${context.scopes}`
}
