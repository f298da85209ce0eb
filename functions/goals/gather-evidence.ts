import type { Json } from '../../shared/canonical.ts'
import type { EvidenceArtifact, EvidenceText } from '../../shared/goals/evidence.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import type { Pinned } from '../runs/read-pinned.ts'
import { checkArtifacts, type LeftOut } from './check-artifacts.ts'
import { evidenceBlocks } from './evidence-blocks.ts'
import { readStanding } from './read-standing.ts'
import { type Standing, standingBlocks } from './standing-blocks.ts'

/** What the gates judge a run by, and what was recorded and is none. */
export interface GatheredEvidence {
  /** In event order. */
  readonly texts: readonly EvidenceText[]
  /** Looked up in the object store and found as recorded. */
  readonly artifacts: readonly EvidenceArtifact[]
  readonly left_out: readonly LeftOut[]
}

/**
 * The evidence of a run, as far as it has come: what its blocks said in attempts that completed and stand (of a bounced
 * block the newest epoch alone), and its artifacts. `known`: the standing blocks, where they are read already.
 */
export async function gatherEvidence(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  { dag }: Pick<Pinned, 'dag'>,
  known?: readonly Standing[],
): Promise<GatheredEvidence> {
  const standing = evidenceBlocks(dag, known ?? (await standingBlocks(world, run)))
  const texts: EvidenceText[] = []
  for (const one of standing) {
    const said = await textsOf(world, run, one)
    texts.push(...said.map((text) => ({ text, block: one.block, attempt: one.attempt, seq: one.seq })))
  }
  return { texts, ...(await checkArtifacts(world, run, standing)) }
}

/** Ports in the order of their names: one object's keys have no other. Items of a foreach block in item order. */
async function textsOf(
  world: Pick<World, 'objects'>,
  { tenant }: RunKey,
  standing: Standing,
): Promise<readonly string[]> {
  const values = await readStanding(world, tenant, standing)
  const ports = Object.keys(values).toSorted()
  return ports.flatMap((port) => stringsIn(standing.items !== undefined ? values[port] : [values[port] ?? null]))
}

function stringsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
