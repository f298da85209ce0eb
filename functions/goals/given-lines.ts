import type { Json } from '../../shared/canonical.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import type { EvidenceText } from '../../shared/goals/evidence.ts'
import { parseMarkers } from '../../shared/goals/marker.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readStanding } from './read-standing.ts'
import type { Standing } from './standing-blocks.ts'

type Given = Pick<EvidenceText, 'relayed' | 'read'>

/**
 * Tells which marker lines of a text its block did not say of itself: those that stand, but for white space at their
 * ends, in an output that is wired into it. A line some block that speaks said of itself counts there (`relayed`);
 * another one comes from a file, the research chain, a verifier or a person, and counts nowhere (`read`). Texts have to
 * be asked about in event order: what a block says, those before it have been asked about. Inputs of the run are no
 * block's output: whoever starts a run answers for them.
 */
export function givenLines(
  world: Pick<World, 'objects'>,
  { tenant }: RunKey,
  { blocks }: Pick<Dag, 'blocks'>,
  all: readonly Standing[],
): (block: string, text: string) => Promise<Given> {
  const standing = new Map(all.map((one) => [one.block, one]))
  const own = new Set<string>()
  const outputs = new Map<string, Promise<ReadonlySet<string>>>()
  const linesOf = (source: Source): Promise<ReadonlySet<string>> => {
    const key = `${source.block}.${source.output}`
    const known = outputs.get(key) ?? markerLines(world, tenant, standing.get(source.block), source.output)
    outputs.set(key, known)
    return known
  }
  const givenTo = async (block: string): Promise<ReadonlySet<string>> => {
    const lines = await Promise.all(sourcesOf(blocks, block).map(linesOf))
    return new Set(lines.flatMap((some) => [...some]))
  }
  return async (block, text) => {
    const said = linesWithMarkers(text)
    if (said.length === 0) return {}
    return sortedOut(said, await givenTo(block), own)
  }
}

/** `own` grows by the lines that were given by nobody. */
function sortedOut(said: readonly SaidLine[], given: ReadonlySet<string>, own: Set<string>): Given {
  const again = said.filter(({ words }) => given.has(words))
  for (const { words } of said) if (!given.has(words)) own.add(words)
  const relayed = again.filter(({ words }) => own.has(words)).map(({ line }) => line)
  const read = again.filter(({ words }) => !own.has(words)).map(({ line }) => line)
  return { ...(relayed.length > 0 && { relayed }), ...(read.length > 0 && { read }) }
}

interface SaidLine {
  readonly line: number
  readonly words: string
}

interface Source {
  readonly block: string
  readonly output: string
}

function sourcesOf(blocks: Dag['blocks'], id: string): readonly Source[] {
  const inputs = blocks.find((block) => block.id === id)?.inputs ?? {}
  return Object.values(inputs).flatMap(({ from }) => from ?? [])
}

async function markerLines(
  world: Pick<World, 'objects'>,
  tenant: string,
  standing: Standing | undefined,
  output: string,
): Promise<ReadonlySet<string>> {
  const stored = standing?.outputs[output]
  if (standing === undefined || stored === undefined) return new Set()
  const { [output]: value = null } = await readStanding(world, tenant, { ...standing, outputs: { [output]: stored } })
  return new Set(textsIn(value).flatMap(bracketLines))
}

/** Every text of a value, however deep. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Fenced or not: a block that takes a line out of its fence has not measured it either. */
function bracketLines(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line.startsWith('['))
}

function linesWithMarkers(text: string): readonly SaidLine[] {
  const markers = parseMarkers(text)
  if (markers.length === 0) return []
  const lines = text.split('\n')
  return markers.map(({ line }) => ({ line, words: (lines[line - 1] ?? '').trim() }))
}
