import type { Json } from '../../shared/canonical.ts'
import type { RunEvent, StoredValue } from '../../shared/runs/event.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

const PAGE = 500

/**
 * Projections of blocks, at least as new as their lanes: a crash between the HEAD append and B# leaves the
 * projection behind, and then the events decide (they are the truth) and the projection is written again.
 */
export async function readProjections(
  world: Pick<World, 'runs'>,
  run: RunKey,
  lanes: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, BlockProjection>> {
  if (lanes.size === 0) return new Map()
  const found = new Map((await world.runs.projections(run, [...lanes.keys()])).map((p) => [p.block, p]))
  for (const [block, lane] of lanes) {
    const seen = found.get(block)
    if (seen !== undefined && seen.ordinal >= lane) continue
    const recovered = await recoverProjection(world, run, block, lane)
    await world.runs.putProjection(run, recovered)
    found.set(block, recovered)
  }
  return found
}

/** The value of each port, parsed from its stored JSON text. */
export async function readValues(
  world: Pick<World, 'objects'>,
  tenant: string,
  stored: Readonly<Record<string, StoredValue>>,
): Promise<Readonly<Record<string, Json>>> {
  const values: Record<string, Json> = {}
  for (const [port, { ref }] of Object.entries(stored)) {
    values[port] = JSON.parse(Buffer.from(await world.objects.get(tenant, ref)).toString('utf8')) as Json
  }
  return values
}

async function recoverProjection(
  world: Pick<World, 'runs'>,
  run: RunKey,
  block: number,
  lane: number,
): Promise<BlockProjection> {
  const { attempt, outcome } = readOrdinal(lane)
  let projection: BlockProjection = { block, ordinal: lane, attempt, state: outcome ?? 'running' }
  let since = 0
  for (;;) {
    const events = await world.runs.events(run, since, PAGE)
    for (const event of events) {
      if (event.id.startsWith(`${block}/`)) projection = { ...projection, ...factsOf(event) }
    }
    const last = events.at(-1)
    if (last === undefined || events.length < PAGE) return projection
    since = last.seq
  }
}

function factsOf(event: RunEvent): Partial<BlockProjection> {
  switch (event.type) {
    case 'block:started':
      return { state: 'running', holder: event.data.holder, lease_until: event.data.lease_until }
    case 'block:output':
      return { outputs: event.data.outputs }
    case 'block:retrying':
      return {
        state: 'retrying',
        due_at: event.data.due_at,
        failure: { code: event.data.code, reason: event.data.reason, feedback: [event.data.reason] },
      }
    case 'block:failed':
      return { state: 'failed', failure: { code: event.data.code, reason: event.data.reason } }
    case 'block:completed':
      return { state: 'completed' }
    case 'block:skipped':
      return { state: 'skipped' }
    default:
      return {}
  }
}
