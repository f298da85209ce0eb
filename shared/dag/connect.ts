import type { Json } from '../canonical.ts'
import { connectDepends } from './connect-depends.ts'
import { findOutput } from './find-output.ts'
import type { BlockDraft } from './read-block.ts'
import { readEdge } from './read-edge.ts'
import { type Reading, readList } from './reading.ts'
import type { Problem } from './report.ts'
import type { Wire } from './wire.ts'
import { quoted } from './wording.ts'

/**
 * All wires of a document, from `from` of inputs, from `edges` and from `depends`: one graph. What they name and what
 * does not exist, and a second source of an input, are problems; the wires answered are sound.
 */
export function connect(
  reading: Reading,
  blocks: readonly BlockDraft[],
  byId: ReadonlyMap<string, BlockDraft>,
  edges: Json | undefined,
): readonly Wire[] {
  const wires: Wire[] = []
  for (const block of blocks) {
    for (const [input, { from, path }] of block.inputs) {
      if (from !== undefined)
        wires.push(...readFrom(reading, byId, from, { to: block, input, path: [...path, 'from'] }))
    }
  }
  const list = edges === undefined ? [] : (readList(reading, edges, ['edges']) ?? [])
  for (const [index, edge] of list.entries()) wires.push(...readEdge(reading, byId, edge, ['edges', index]))
  return [...oneSource(reading, wires), ...connectDepends(reading, blocks, byId)]
}

function readFrom(
  reading: Reading,
  byId: ReadonlyMap<string, BlockDraft>,
  from: Json,
  end: Pick<Wire, 'to' | 'path'> & { readonly input: string },
): readonly Wire[] {
  const found = findOutput(reading, byId, from, end.path)
  return found === undefined ? [] : [{ from: found.block, output: found.output, ...end }]
}

/** An input has one source; the same wire written twice is one wire. */
function oneSource(reading: Reading, wires: readonly Wire[]): readonly Wire[] {
  const sources = new Map<string, Wire>()
  return wires.filter((wire) => {
    if (wire.input === undefined) return true
    const key = `${wire.to.index}.${wire.input}`
    const first = sources.get(key)
    if (first === undefined) sources.set(key, wire)
    else if (sourceOf(first) !== sourceOf(wire)) refuseSource(reading, first, wire)
    return first === undefined
  })
}

function refuseSource(reading: Reading, first: Wire, second: Wire): void {
  const path = second.path[0] === 'edges' ? [...second.path, 'input'] : second.path
  const say: Problem['say'] = () => ({
    text: `input "${second.input}" of block ${quoted(second.to.id ?? '')} has two sources, ${quoted(sourceOf(first))} and ${quoted(sourceOf(second))}`,
    hint: 'Keep one of them, or give the second an input of its own.',
  })
  reading.problems.push({ code: 'two_sources', path, say })
}

function sourceOf({ from, output }: Wire): string {
  return `${from.id ?? ''}.${output ?? ''}`
}
