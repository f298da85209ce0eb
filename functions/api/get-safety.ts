import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import { runsPool } from '../../shared/runs/run-store.ts'
import { type Safety, SafetySchema } from '../../shared/runs/safety-settings.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { tenantBytes } from '../record/storage-quota.ts'

/** More are told as this many. */
const MOST_QUEUED = 1_000

export const handler = httpHandler({
  name: 'get-safety',
  schema: PLACE_ROUTES['get-safety'],
  run: async ({ principal }, world) => {
    const state = await stateOf(world, principal.tenant)
    return { json: { policy: withSources(world.settings), limits: LIMITS, ...state } }
  },
})

async function stateOf(world: World, tenant: string) {
  const { runs, settings } = world
  const isCounted = settings.safety.max_tenant_bytes !== undefined
  const [hold, held, queue, stored] = await Promise.all([
    runs.startHold(tenant),
    runs.leases(runsPool(tenant)),
    runs.queued(tenant, MOST_QUEUED),
    isCounted ? tenantBytes(world, tenant) : undefined,
  ])
  return {
    ...(stored === undefined ? {} : { stored_bytes: stored }),
    hold: hold ?? null,
    active_runs: Object.keys(held).length,
    queued_runs: queue.length,
  }
}

function withSources({ safety, safety_context = [] }: Settings) {
  const defaults = SafetySchema.parse({})
  const names = Object.keys(SafetySchema.shape) as (keyof Safety)[]
  const policy = names.map((name) => {
    const given = safety_context.includes(name) ? ('cdk context' as const) : ('sluice.yaml' as const)
    const source = defaults[name] === safety[name] ? ('default' as const) : given
    return [name, { value: safety[name] ?? null, source }] as const
  })
  return Object.fromEntries(policy)
}

/** Limits no setting changes (docs/limits-and-costs.md, "Limits nobody moves"). */
const LIMITS = {
  dag_bytes: 262_144,
  dag_blocks: 1_000,
  inputs_bytes: 204_800,
  context_bytes: 204_800,
  feedback_characters: 3_000,
  json_depth: 64,
  listed_issues: 20,
  input_file_bytes: 10_485_760,
  block_timeout_ms: 840_000,
}
