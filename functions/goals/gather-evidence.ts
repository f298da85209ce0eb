import type { Json } from '../../shared/canonical.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { type EvidenceArtifact, type EvidenceText, saysNothing } from '../../shared/goals/evidence.ts'
import { parseMarkers } from '../../shared/goals/marker.ts'
import { collectMarkers, type SameMarkers } from '../../shared/goals/same-markers.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { type Pinned, readPinned } from '../runs/read-pinned.ts'
import { checkArtifacts, type LeftOut } from './check-artifacts.ts'
import { evidenceBlocks } from './evidence-blocks.ts'
import { givenMarkers } from './given-markers.ts'
import { readStanding } from './read-standing.ts'
import { type Standing, standingBlocks } from './standing-blocks.ts'

/** What the gates judge a run by, and what was recorded and is none. */
export interface GatheredEvidence {
  /** In event order. */
  readonly texts: readonly EvidenceText[]
  /** Looked up in the object store and found as recorded. */
  readonly artifacts: readonly EvidenceArtifact[]
  /** Outputs that are no texts and say something: nothing a gate reads, and yet something. */
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
  const given = givenMarkers(world, run, dag, all, (made) => saidByChild(world, run.tenant, made))
  const texts: EvidenceText[] = []
  const files: string[] = []
  let other_outputs = 0
  for (const one of standing) {
    const { block, attempt, seq } = one
    const values = await valuesOf(world, run, dag, one)
    for (const { text, isFile } of values.filter(isText)) {
      if (isFile) files.push(text)
      else texts.push({ text, block, attempt, seq, ...(await given(block, text)) })
    }
    other_outputs += values.filter((value) => !isText(value) && !saysNothing(value.value)).length
  }
  const checked = await checkArtifacts(world, run, standing)
  const filled = await filledFiles(world, run, files, checked.artifacts)
  return { texts, other_outputs: other_outputs + filled, ...checked }
}

/** What the child run behind a block said of itself: what it had merely read is no more its parent's saying than its own. */
async function saidByChild(
  world: Pick<World, 'runs' | 'objects'>,
  tenant: string,
  { block, child, cached_from }: Standing,
): Promise<SameMarkers> {
  const said = collectMarkers()
  if (child === undefined) {
    const earlier = cached_from === undefined ? [] : await standingBlocks(world, { tenant, run_id: cached_from })
    const made = earlier.find((one) => one.block === block)
    return made === undefined ? said : saidByChild(world, tenant, made)
  }
  const run = { tenant, run_id: child }
  for (const { text, read = [] } of (await gatherEvidence(world, run, await readPinned(world, run))).texts) {
    for (const marker of parseMarkers(text)) if (!read.includes(marker.line)) said.add(marker)
  }
  return said
}

interface Value {
  readonly value: Json
  /** Where it is one. */
  readonly text?: string
  /** Its port is of type file or artifact: it is an object ref, and no text of the block. */
  readonly isFile: boolean
}

function isText(value: Value): value is Value & { readonly text: string } {
  return value.text !== undefined
}

/** Ports in the order of their names: one object's keys have no other. Items of a foreach block in item order. */
async function valuesOf(
  world: Pick<World, 'objects'>,
  { tenant }: RunKey,
  { blocks }: Pick<Dag, 'blocks'>,
  standing: Standing,
): Promise<readonly Value[]> {
  const values = await readStanding(world, tenant, standing)
  const outputs = blocks.find(({ id }) => id === standing.block)?.outputs ?? {}
  const ports = Object.keys(values).toSorted()
  return ports.flatMap((port) => {
    const value = values[port] ?? null
    const type = outputs[port]?.type
    const all: readonly Json[] = standing.items !== undefined && Array.isArray(value) ? value : [value]
    const isFile = type === 'file' || type === 'artifact'
    return all.map((one) => ({ value: one, ...(typeof one === 'string' && { text: one }), isFile }))
  })
}

/** How many files there are, besides the artifacts that count anyway, with a byte in them. */
async function filledFiles(
  { objects }: Pick<World, 'objects'>,
  { tenant }: RunKey,
  files: readonly string[],
  artifacts: readonly EvidenceArtifact[],
): Promise<number> {
  const counted = new Set(artifacts.map(({ sha256 }) => sha256))
  let filled = 0
  for (const ref of new Set(files)) {
    if (counted.has(ref.slice(ref.lastIndexOf('/') + 1))) continue
    if ((await bytesOf(objects, tenant, ref)) > 0) filled += 1
  }
  return filled
}

async function bytesOf(objects: World['objects'], tenant: string, ref: string): Promise<number> {
  try {
    return (await objects.get(tenant, ref)).byteLength
  } catch (error) {
    if (error instanceof Fault && error.name !== 'Unavailable') return 0
    throw error
  }
}
