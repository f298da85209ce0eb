import { Fault } from '../../shared/errors.ts'
import type { EvidenceArtifact } from '../../shared/goals/evidence.ts'
import type { ArtifactItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { artifactStands } from './artifact-stands.ts'
import type { Standing } from './standing-blocks.ts'
import { stoodEarlier } from './stood-earlier.ts'

/** Something the run recorded that is no evidence, and why not. */
export interface LeftOut {
  readonly artifact: string
  readonly why: string
}

/**
 * The artifacts that count: written by an attempt that stands, in this run or in the one it goes on from, and there. Each
 * is read whole, one after the other (64 MiB at most), and its bytes are hashed: what a record says is not believed.
 */
export async function checkArtifacts(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  standing: readonly Standing[],
): Promise<{ readonly artifacts: readonly EvidenceArtifact[]; readonly left_out: readonly LeftOut[] }> {
  const artifacts: EvidenceArtifact[] = []
  const left_out: LeftOut[] = []
  const attempts = new Map(standing.map((one) => [one.block, one]))
  const stood = stoodEarlier(world, run.tenant)
  for (const item of (await world.runs.artifacts(run)).toSorted(byName)) {
    const isBrought = item.attempt === 0
    if (!(isBrought ? await stood(item) : artifactStands(item, attempts.get(item.block_id)))) continue
    const why = await whyMissing(world, run, item)
    const { name, block_id: block, attempt, bytes, sha256 } = item
    if (why === undefined) artifacts.push({ name, block, attempt, bytes, sha256 })
    else left_out.push({ artifact: name, why })
  }
  return { artifacts, left_out }
}

function byName(a: ArtifactItem, b: ArtifactItem): number {
  return a.name < b.name ? -1 : 1
}

async function whyMissing(
  { objects }: Pick<World, 'objects'>,
  { tenant }: RunKey,
  { ref, bytes, sha256 }: ArtifactItem,
): Promise<string | undefined> {
  try {
    const { byteLength } = await objects.get(tenant, ref)
    if (byteLength !== bytes) return `it has ${byteLength} bytes, recorded are ${bytes}`
    // The store answers only bytes that have the hash of their ref.
    return ref.endsWith(`/${sha256}`) ? undefined : 'its content has another sha256 than the one recorded'
  } catch (error) {
    if (error instanceof Fault && error.code === 'object_missing') return 'it is not in the object store'
    if (error instanceof Fault && error.code === 'object_corrupt') return 'its content was damaged after it was stored'
    throw error
  }
}
