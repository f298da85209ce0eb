import type { PlaceOptions } from '../../../infra/local/place.ts'
import type { ResearchAnswer } from '../../../shared/api/research-routes.ts'
import type { Intent } from '../../../shared/research/payloads/intent.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'
import { putAtlas } from './small-atlas.ts'

export interface Asked {
  readonly run_id: string
  readonly answer: ResearchAnswer
  readonly events: readonly RunEvent[]
  /** Stages in the order they were recorded, with what decided where they went on. */
  readonly path: readonly string[]
}

export interface ResearchPlace extends TestPlace {
  ask(intent: Intent & { readonly parent_loop?: string; readonly embeddings_weight?: number }): Promise<Asked>
}

/** A local place with the small atlas in its graph. */
export async function openResearchPlace(
  options: PlaceOptions = {},
  settings: Readonly<Record<string, unknown>> = {},
  more: Parameters<typeof putAtlas>[1] = [],
): Promise<ResearchPlace> {
  const place = await openTestPlace(options, settings)
  await putAtlas(place.place.world, more)
  return Object.assign(place, { ask: (intent: Intent) => ask(place, intent) })
}

async function ask(place: TestPlace, intent: Intent): Promise<Asked> {
  const { status, json } = await place.call('start-research', '', intent)
  if (status !== 201) throw new Error(JSON.stringify(json))
  const { run_id } = json as unknown as { run_id: string }
  const events = await place.ended(run_id)
  const { json: answer } = await place.call('get-research', run_id)
  return { run_id, answer: answer as unknown as ResearchAnswer, events, path: pathOf(events) }
}

function pathOf(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap(({ type, data }) => {
    if (!type.startsWith('research:') || type === 'research:requested') return []
    const { action, sufficient } = data as { action?: string; sufficient?: boolean }
    const said = type === 'research:executed' ? undefined : (action ?? sufficient)
    return [`${type.slice('research:'.length)}${said === undefined ? '' : ` ${said}`}`]
  })
}

/** What HEAD says was spent is what the events say, and at rest nothing more is committed. */
export async function ledgerOf(place: TestPlace, { run_id, events }: Pick<Asked, 'run_id' | 'events'>) {
  const head = await place.place.world.runs.head({ tenant: 'main', run_id })
  const { committed_tokens, spent_tokens, cap_tokens } = head?.budget ?? {}
  return { committed_tokens, spent_tokens, cap_tokens, told: foldRun(events).tokens }
}
