import type { Json } from '../../shared/canonical.ts'
import type { EvidenceArtifact, EvidenceText } from '../../shared/goals/evidence.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import type { Pinned } from '../runs/read-pinned.ts'
import { checkArtifacts, type LeftOut } from './check-artifacts.ts'
import { evidenceBlocks } from './evidence-blocks.ts'
import { givenLines } from './given-lines.ts'
import { readStanding } from './read-standing.ts'
import { type Standing, standingBlocks } from './standing-blocks.ts'

/** What the gates judge a run by, and what was recorded and is none. */
export interface GatheredEvidence {
  /** In event order. */
  readonly texts: readonly EvidenceText[]
  /** Looked up in the object store and found as recorded. */
  readonly artifacts: readonly EvidenceArtifact[]
  /** Outputs that are no texts and not empty: nothing a gate reads, and yet something. */
  readonly other_outputs: number
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
  const all = known ?? (await standingBlocks(world, run))
  const standing = evidenceBlocks(dag, all)
  const given = givenLines(world, run, dag, all)
  const texts: EvidenceText[] = []
  let other_outputs = 0
  for (const one of standing) {
    const values = await valuesOf(world, run, one)
    other_outputs += values.filter((value) => typeof value !== 'string' && !isEmpty(value)).length
    for (const text of values.filter((value) => typeof value === 'string')) {
      texts.push({ text, block: one.block, attempt: one.attempt, seq: one.seq, ...(await given(one.block, text)) })
    }
  }
  return { texts, other_outputs, ...(await checkArtifacts(world, run, standing)) }
}

/** Ports in the order of their names: one object's keys have no other. Items of a foreach block in item order. */
async function valuesOf(
  world: Pick<World, 'objects'>,
  { tenant }: RunKey,
  standing: Standing,
): Promise<readonly Json[]> {
  const values = await readStanding(world, tenant, standing)
  const ports = Object.keys(values).toSorted()
  return ports.flatMap((port) => {
    const value = values[port] ?? null
    return standing.items !== undefined && Array.isArray(value) ? value : [value]
  })
}

function isEmpty(value: Json): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}
