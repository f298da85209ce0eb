import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { type EvidenceArtifact, type EvidenceText, saysNothing } from '../../shared/goals/evidence.ts'
import { type Marker, parseMarkers } from '../../shared/goals/marker.ts'
import { findMarkersAnywhere, type MarkerSet, newMarkerSet } from '../../shared/goals/marker-set.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { ArtifactItem } from '../../shared/runs/run-store-items.ts'
import type { Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { type Pinned, readPinned } from '../record/pinned-run.ts'
import { type CurrentOutput, currentOutputs, evidenceBlocks, readOutputValues } from './current-outputs.ts'

/** What the gates judge a run by, and what was recorded and is none. */
interface GatheredEvidence {
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
  known?: readonly CurrentOutput[],
): Promise<GatheredEvidence> {
  const all = known ?? (await currentOutputs(world, run))
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
  { block, child, cached_from }: CurrentOutput,
): Promise<MarkerSet> {
  const said = newMarkerSet()
  if (child === undefined) {
    const earlier = cached_from === undefined ? [] : await currentOutputs(world, { tenant, run_id: cached_from })
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
  standing: CurrentOutput,
): Promise<readonly Value[]> {
  const values = await readOutputValues(world, tenant, standing)
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

type Given = Pick<EvidenceText, 'relayed' | 'read'>

/**
 * Tells which marker lines of a text its block did not say of itself: those whose marker stands anywhere in an output
 * that is wired into it, however it is written there (shared/goals/marker.ts). One that a block that speaks said of
 * itself counts there (`relayed`); another one comes from a file, the research chain, a verifier or a person, and counts
 * nowhere (`read`). So does what a `mode: dag` block hands on and its child run did not say of itself (`saidByChild`). Texts have to be asked about in event order: what a block says, those before it have been asked
 * about. Inputs of the run are no block's output: whoever starts a run answers for them.
 */
function givenMarkers(
  world: Pick<World, 'objects'>,
  { tenant }: RunKey,
  { blocks }: Pick<Dag, 'blocks'>,
  all: readonly CurrentOutput[],
  saidByChild: (standing: CurrentOutput) => Promise<MarkerSet>,
): (block: string, text: string) => Promise<Given> {
  const standing = new Map(all.map((one) => [one.block, one]))
  const byId = new Map(blocks.map((block) => [block.id, block]))
  const own = newMarkerSet()
  const outputs = new Map<string, Promise<MarkerSet>>()
  const markersOf = ({ block, output }: Source): Promise<MarkerSet> => {
    const key = `${block}.${output}`
    const type = byId.get(block)?.outputs[output]?.type
    const known =
      outputs.get(key) ??
      markersIn(world, tenant, {
        standing: standing.get(block),
        output,
        isFile: type === 'file' || type === 'artifact',
      })
    outputs.set(key, known)
    return known
  }
  return async (block, text) => {
    const said = parseMarkers(text)
    if (said.length === 0) return {}
    const sources = Object.values(byId.get(block)?.inputs ?? {}).flatMap(({ from }) => from ?? [])
    const given = await Promise.all(sources.map(markersOf))
    const made = standing.get(block)
    const child = byId.get(block)?.mode === 'dag' && made !== undefined ? await saidByChild(made) : undefined
    const isAgain = (marker: Marker) => child?.has(marker) === false || given.some((some) => some.has(marker))
    return sortedOut(said, isAgain, own)
  }
}

/** `own` grows by the markers that were given by nobody. */
function sortedOut(said: readonly Marker[], isAgain: (marker: Marker) => boolean, own: MarkerSet): Given {
  const again = said.filter(isAgain)
  for (const marker of said) if (!again.includes(marker)) own.add(marker)
  const relayed = again.filter((marker) => own.has(marker)).map(({ line }) => line)
  const read = again.filter((marker) => !own.has(marker)).map(({ line }) => line)
  return { ...(relayed.length > 0 && { relayed }), ...(read.length > 0 && { read }) }
}

interface Source {
  readonly block: string
  readonly output: string
}

interface Stored {
  readonly standing: CurrentOutput | undefined
  readonly output: string
  readonly isFile: boolean
}

async function markersIn(
  world: Pick<World, 'objects'>,
  tenant: string,
  { standing, output, isFile }: Stored,
): Promise<MarkerSet> {
  const found = newMarkerSet()
  const stored = standing?.outputs[output]
  if (standing === undefined || stored === undefined) return found
  const { [output]: value = null } = await readOutputValues(world, tenant, {
    ...standing,
    outputs: { [output]: stored },
  })
  for (const text of isFile ? await fileTexts(world, tenant, value) : [textOf(value)]) {
    for (const marker of findMarkersAnywhere(text)) found.add(marker)
  }
  return found
}

/** Keys stand in the text too: a marker may be one, with its value behind it. */
function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A file is told as its text; of a fan-out there are several. One that is gone was told nobody. */
async function fileTexts({ objects }: Pick<World, 'objects'>, tenant: string, value: Json): Promise<readonly string[]> {
  const refs = [value].flat().filter((ref) => typeof ref === 'string')
  return Promise.all(
    refs.map(async (ref) => {
      try {
        return new TextDecoder().decode(await objects.get(tenant, ref))
      } catch (error) {
        if (error instanceof Fault && error.name !== 'Unavailable') return ''
        throw error
      }
    }),
  )
}

/** Something the run recorded that is no evidence, and why not. */
export interface LeftOut {
  readonly artifact: string
  readonly why: string
}

/**
 * The artifacts that count: written by an attempt that stands, in this run or in the one it goes on from, and there. Each
 * is read whole, one after the other (64 MiB at most), and its bytes are hashed: what a record says is not believed.
 */
async function checkArtifacts(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  standing: readonly CurrentOutput[],
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

/**
 * Whether an artifact is what its block completed with: written by the attempt that stands, of a fan-out by that of its
 * item. What a failed item wrote stays with the run, and says nothing for it.
 */
function artifactStands(
  { attempt, epoch = 0, item }: ArtifactItem,
  standing: Pick<CurrentOutput, 'attempt' | 'epoch' | 'items'> | undefined,
): boolean {
  if (standing === undefined || standing.epoch !== epoch) return false
  const { items } = standing
  if (items === undefined) return standing.attempt === attempt
  // Stored before artifacts named their item.
  if (item === undefined) return true
  const own = items[item]
  return own?.state === 'completed' && own.attempt === attempt
}

type EarlierWorld = Pick<World, 'runs' | 'objects'>

/**
 * Whether an artifact that came along with an earlier run was evidence in that one: going on from a run makes nothing
 * valid that its own gates refused. Of a run that is there no more nothing is known. Each run is read once.
 */
function stoodEarlier(world: EarlierWorld, tenant: string): (item: ArtifactItem) => Promise<boolean> {
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
  const standing = evidenceBlocks(pinned.dag, await currentOutputs(world, run))
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
