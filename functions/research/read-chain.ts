import { type ChainState, ChainStateSchema } from '../../shared/research/chain-state.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { World } from '../../shared/world.ts'

/** The state of the chain after its newest recorded stage; undefined before the first. */
export async function readChain(
  { objects }: Pick<World, 'objects'>,
  tenant: string,
  events: readonly RunEvent[],
): Promise<ChainState | undefined> {
  const last = events.findLast(isStage)
  if (last === undefined) return undefined
  const body = await objects.get(tenant, last.data.ref)
  return ChainStateSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')))
}

type StageEvent = Extract<RunEvent, { type: (typeof STAGES)[number] }>

const STAGES = [
  'research:classified',
  'research:routed',
  'research:executed',
  'research:assessed',
  'research:synthesized',
] as const

function isStage(event: RunEvent): event is StageEvent {
  return STAGES.some((type) => type === event.type)
}
