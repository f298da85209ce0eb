import type { Json } from '../../shared/canonical.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { EvidenceText } from '../../shared/goals/evidence.ts'
import { type Marker, parseMarkers } from '../../shared/goals/marker.ts'
import { collectMarkers, markersAnywhere, type SameMarkers } from '../../shared/goals/same-markers.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readStanding } from './read-standing.ts'
import type { Standing } from './standing-blocks.ts'

type Given = Pick<EvidenceText, 'relayed' | 'read'>

/**
 * Tells which marker lines of a text its block did not say of itself: those whose marker stands anywhere in an output
 * that is wired into it, however it is written there (shared/goals/same-markers.ts). One that a block that speaks said of
 * itself counts there (`relayed`); another one comes from a file, the research chain, a verifier or a person, and counts
 * nowhere (`read`). So does what a `mode: dag` block hands on and its child run did not say of itself (`saidByChild`). Texts have to be asked about in event order: what a block says, those before it have been asked
 * about. Inputs of the run are no block's output: whoever starts a run answers for them.
 */
export function givenMarkers(
  world: Pick<World, 'objects'>,
  { tenant }: RunKey,
  { blocks }: Pick<Dag, 'blocks'>,
  all: readonly Standing[],
  saidByChild: (standing: Standing) => Promise<SameMarkers>,
): (block: string, text: string) => Promise<Given> {
  const standing = new Map(all.map((one) => [one.block, one]))
  const byId = new Map(blocks.map((block) => [block.id, block]))
  const own = collectMarkers()
  const outputs = new Map<string, Promise<SameMarkers>>()
  const markersOf = ({ block, output }: Source): Promise<SameMarkers> => {
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
function sortedOut(said: readonly Marker[], isAgain: (marker: Marker) => boolean, own: SameMarkers): Given {
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
  readonly standing: Standing | undefined
  readonly output: string
  readonly isFile: boolean
}

async function markersIn(
  world: Pick<World, 'objects'>,
  tenant: string,
  { standing, output, isFile }: Stored,
): Promise<SameMarkers> {
  const found = collectMarkers()
  const stored = standing?.outputs[output]
  if (standing === undefined || stored === undefined) return found
  const { [output]: value = null } = await readStanding(world, tenant, { ...standing, outputs: { [output]: stored } })
  for (const text of isFile ? await fileTexts(world, tenant, value) : [textOf(value)]) {
    for (const marker of markersAnywhere(text)) found.add(marker)
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
