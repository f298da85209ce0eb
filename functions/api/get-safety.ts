import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import { type Safety, SafetySchema } from '../../shared/settings.ts'
import { httpHandler } from '../http-handler.ts'

export const handler = httpHandler({
  name: 'get-safety',
  schema: PLACE_ROUTES['get-safety'],
  run: (_call, world) => ({ json: { policy: withSources(world.settings.safety), limits: LIMITS } }),
})

function withSources(safety: Safety) {
  const defaults = SafetySchema.parse({})
  const policy = Object.entries(safety).map(([name, value]) => {
    const source: 'default' | 'sluice.yaml' = defaults[name as keyof Safety] === value ? 'default' : 'sluice.yaml'
    return [name, { value, source }] as const
  })
  return Object.fromEntries(policy)
}

/** Limits no setting changes (spec reliability, "Limits"; spec dag, "Checks"). */
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
