import { Fault } from '../../shared/errors.ts'
import type { ArtifactItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../runs/read-pinned.ts'
import { artifactStands } from './artifact-stands.ts'
import { evidenceBlocks } from './evidence-blocks.ts'
import { standingBlocks } from './standing-blocks.ts'

type EarlierWorld = Pick<World, 'runs' | 'objects'>

/**
 * Whether an artifact that came along with an earlier run was evidence in that one: going on from a run makes nothing
 * valid that its own gates refused. Of a run that is there no more nothing is known. Each run is read once.
 */
export function stoodEarlier(world: EarlierWorld, tenant: string): (item: ArtifactItem) => Promise<boolean> {
  const known = new Map<string, Promise<ReadonlySet<string>>>()
  return async (item) => {
    const { from_run: run_id } = item
    if (run_id === undefined) return false
    const stood = known.get(run_id) ?? standingArtifacts(world, { tenant, run_id })
    known.set(run_id, stood)
    return (await stood).has(keyOf(item))
  }
}

async function standingArtifacts(world: EarlierWorld, run: RunKey): Promise<ReadonlySet<string>> {
  const pinned = await readPinned(world, run).catch(whenGone)
  if (pinned === undefined) return new Set()
  const standing = evidenceBlocks(pinned.dag, await standingBlocks(world, run))
  const attempts = new Map(standing.map((one) => [one.block, one]))
  const items = await world.runs.artifacts(run)
  return new Set(items.filter((item) => artifactStands(item, attempts.get(item.block_id))).map(keyOf))
}

/** Its record or its document aged away. */
function whenGone(error: unknown): undefined {
  if (error instanceof Fault && (error.name === 'NotFound' || error.name === 'InvalidInput')) return undefined
  throw error
}

function keyOf({ name, ref }: ArtifactItem): string {
  return `${ref} ${name}`
}
