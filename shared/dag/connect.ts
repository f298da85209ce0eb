import type { Json } from '../canonical.ts'
import { connectDepends } from './connect-depends.ts'
import { isName } from './name.ts'
import type { BlockDraft } from './read-block.ts'
import { readEdge } from './read-edge.ts'
import { type Reading, readList } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'
import { suggest } from './suggest.ts'
import type { Wire } from './wire.ts'
import { listed, quoted, shown } from './wording.ts'

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
  const [id = '', output = '', ...more] = typeof from === 'string' ? from.split('.') : []
  if (typeof from !== 'string' || more.length > 0 || !isName(id) || !isName(output)) {
    return refuseFrom(reading, byId, from, end.path)
  }
  const block = byId.get(id)
  if (block === undefined) return refuseBlock(reading, byId, from, end.path)
  if (!block.outputs.has(output)) return refuseOutput(reading, block, from, end.path)
  return [{ from: block, output, ...end }]
}

function refuseFrom(reading: Reading, byId: ReadonlyMap<string, BlockDraft>, from: Json, path: Path): readonly Wire[] {
  return refuse(reading, 'malformed_from', path, ({ place }) => {
    const outputs = typeof from === 'string' ? [...(byId.get(from)?.outputs.keys() ?? [])] : []
    const [only] = outputs
    const hint = outputs.length === 1 ? `Did you mean ${quoted(`${String(from)}.${only}`)}?` : undefined
    return { text: `${place} is ${shown(from)}; allowed is BLOCK.OUTPUT`, hint }
  })
}

function refuseBlock(
  reading: Reading,
  byId: ReadonlyMap<string, BlockDraft>,
  from: string,
  path: Path,
): readonly Wire[] {
  const [id = '', output = ''] = from.split('.')
  return refuse(reading, 'unknown_block', path, ({ who }) => {
    const near = suggest(id, byId.keys())
    const text = `${who} reads ${quoted(from)}, but there is no block ${quoted(id)}; blocks are ${listed(byId.keys())}`
    if (near !== undefined) return { text, hint: `Did you mean ${quoted(`${near}.${output}`)}?` }
    const isInput = id === 'inputs' || id === 'context'
    const hint = `A run input needs no "from": call the input "${output}" and give its type.`
    return { text, hint: isInput ? hint : undefined }
  })
}

function refuseOutput(reading: Reading, { id = '', outputs }: BlockDraft, from: string, path: Path): readonly Wire[] {
  return refuse(reading, 'unknown_output', path, ({ who }) => {
    const names = [...outputs.keys()]
    const near = suggest(from.slice(id.length + 1), names) ?? (names.length === 1 ? names[0] : undefined)
    const text = `${who} reads ${quoted(from)}, but ${quoted(id)} has ${names.length === 0 ? 'no outputs' : `outputs ${listed(names)}`}`
    return { text, hint: near === undefined ? undefined : `Did you mean ${quoted(`${id}.${near}`)}?` }
  })
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
  refuse(reading, 'two_sources', path, () => ({
    text: `input "${second.input}" of block ${quoted(second.to.id ?? '')} has two sources, ${quoted(sourceOf(first))} and ${quoted(sourceOf(second))}`,
    hint: 'Keep one of them, or give the second an input of its own.',
  }))
}

function sourceOf({ from, output }: Wire): string {
  return `${from.id ?? ''}.${output ?? ''}`
}

function refuse({ problems }: Reading, code: string, path: Path, say: Problem['say']): readonly [] {
  problems.push({ code, path, say })
  return []
}
