import type { Act } from '../acts.ts'
import { callRoute } from '../call-route.ts'
import { pickFrom } from '../rng.ts'
import type { System } from '../system.ts'
import { TOLD } from './simulated-endpoints.ts'

/** Somebody looks at what was given up, tries an endpoint and sends one of the dead again. */
export async function replayDead(system: System, { dice }: Act, tenant: string): Promise<void> {
  const { sim } = system
  const call = { tenant, params: {} }
  await callRoute(system, 'list-webhooks', call)
  const listed = await callRoute(system, 'list-dead-webhooks', call)
  const name = pickFrom(TOLD, dice[1])?.name
  await callRoute(system, 'test-webhook', { ...call, body: { name } })
  const dead = (listed?.json.dead ?? []) as readonly { readonly id: string; readonly run_id: string }[]
  const stranger = dead.find(({ run_id }) => system.runs.get(run_id)?.tenant !== tenant)
  if (stranger !== undefined) sim.violate(27, `${tenant} is shown ${stranger.id}`)
  const id = pickFrom(dead, dice[2])?.id ?? `${[...system.runs.keys()][0]}-1-all`
  await callRoute(system, 'replay-webhook', { ...call, body: { id } })
}
