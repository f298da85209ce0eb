import { isName } from '../limits.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { describeValue, didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import type { BlockDraft } from './block.ts'
import { readCondition } from './control-flow.ts'
import { type Reading, readList, readSection, SECTIONS } from './sections.ts'

/**
 * All wires of a document, from `from` of inputs, from `edges` and from `depends`: one graph. What they name and what
 * does not exist, and a second source of an input, are problems; the wires answered are sound.
 */
export function readWires(
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

/** One dependency: `from` is done before `to` starts. With `output` and `input` a value travels too. */
export interface Wire {
  readonly from: BlockDraft
  readonly to: BlockDraft
  readonly output?: string
  readonly input?: string
  /** Expression that makes the value. */
  readonly transform?: string
  /** Where it is written. */
  readonly path: Path
}

/** An item of `edges`: order, or order and a value. */
function readEdge(reading: Reading, byId: ReadonlyMap<string, BlockDraft>, given: Json, path: Path): readonly Wire[] {
  const edge = readSection(reading, SECTIONS.edge, given, path)
  if (edge === undefined) return []
  const from = edgeEnd(reading, byId, edge.from, [...path, 'from'])
  const to = edgeEnd(reading, byId, edge.to, [...path, 'to'])
  const transform = readTransform(reading, from, edge.transform, [...path, 'transform'])
  const { output, input } = edge
  if (output === undefined || input === undefined) {
    const isWhole = output === input && edge.transform === undefined
    return isWhole ? wireOf(path, from, to) : refuseHalf(reading, [...path, output === undefined ? 'output' : 'input'])
  }
  const source = blockWithPort(reading, from, 'outputs', output, [...path, 'output'])
  const target = blockWithPort(reading, to, 'inputs', input, [...path, 'input'])
  return wireOf(path, source, target, { output, input, ...transform })
}

/** What the value becomes on its way: an expression over it and over all outputs of its block. */
function readTransform(
  reading: Reading,
  from: BlockDraft | undefined,
  given: Json | undefined,
  path: Path,
): Pick<Wire, 'transform'> {
  const read = readCondition(reading, given, path, ['value', 'outputs'])
  const outputs = (read?.paths ?? []).flatMap(([root, name]) =>
    root === 'outputs' && name !== undefined ? [name] : [],
  )
  for (const name of new Set(outputs)) blockWithPort(reading, from, 'outputs', name, path)
  // One that is wrong still says that the value arrives as something else.
  return given === undefined ? {} : { transform: read?.text ?? '' }
}

function wireOf(
  path: Path,
  from: BlockDraft | undefined,
  to: BlockDraft | undefined,
  value: Pick<Wire, 'output' | 'input' | 'transform'> = {},
): readonly Wire[] {
  return from === undefined || to === undefined ? [] : [{ from, to, ...value, path }]
}

function refuseHalf(reading: Reading, path: Path): readonly Wire[] {
  const hint = `Add "${path.at(-1)}", or give neither output nor input for an order without a value.`
  return refuseEdge(reading, 'missing_key', path, ({ place }) => ({ text: `${place} is missing`, hint }))
}

function edgeEnd(
  reading: Reading,
  byId: ReadonlyMap<string, BlockDraft>,
  id: string | undefined,
  path: Path,
): BlockDraft | undefined {
  if (id === undefined) return undefined
  const block = byId.get(id)
  if (block === undefined) refuseUnknownBlock(reading, byId, id, path)
  return block
}

/** A place of the document that names a block names none. */
export function refuseUnknownBlock(
  reading: Reading,
  byId: ReadonlyMap<string, BlockDraft>,
  id: string,
  path: Path,
): void {
  refuseEdge(reading, 'unknown_block', path, ({ place }) => {
    const near = suggest(id, byId.keys()) ?? suggest(id.split('.')[0] ?? '', byId.keys())
    const text = `${place} is ${quoted(id)}, but there is no such block; blocks are ${listed(byId.keys())}`
    return { text, hint: didYouMean(near) }
  })
}

/** The block, when it has the port. */
function blockWithPort(
  reading: Reading,
  block: BlockDraft | undefined,
  side: 'inputs' | 'outputs',
  port: string,
  path: Path,
): BlockDraft | undefined {
  if (block === undefined) return undefined
  const ports = block[side]
  if (ports.has(port)) return block
  refuseEdge(reading, side === 'inputs' ? 'unknown_input' : 'unknown_output', path, ({ place }) => {
    const names = [...ports.keys()]
    const near = suggest(port, names) ?? (names.length === 1 ? names[0] : undefined)
    const text = `${place} is ${quoted(port)}, but block ${quoted(block.id ?? '')} has ${names.length === 0 ? `no ${side}` : `${side} ${listed(names)}`}`
    return { text, hint: didYouMean(near) }
  })
  return undefined
}

function refuseEdge({ problems }: Reading, code: string, path: Path, say: Problem['say']): readonly [] {
  problems.push({ code, path, say })
  return []
}

type Blocks = ReadonlyMap<string, BlockDraft>

/** The block and the output that `block.output` names; what it does not find is a problem at `path`. */
export function findOutput(
  reading: Reading,
  byId: Blocks,
  from: Json,
  path: Path,
): { readonly block: BlockDraft; readonly output: string } | undefined {
  const [id = '', output = '', ...more] = typeof from === 'string' ? from.split('.') : []
  if (typeof from !== 'string' || more.length > 0 || !isName(id) || !isName(output)) {
    return refuseForm(reading, byId, from, path)
  }
  const block = byId.get(id)
  if (block === undefined) return refuseBlock(reading, byId, from, path)
  if (!block.outputs.has(output)) return refuseOutput(reading, block, from, path)
  return { block, output }
}

function refuseForm(reading: Reading, byId: Blocks, from: Json, path: Path): undefined {
  return refuseFrom(reading, 'malformed_from', path, ({ place }) => {
    const outputs = typeof from === 'string' ? [...(byId.get(from)?.outputs.keys() ?? [])] : []
    const [only] = outputs
    const hint = outputs.length === 1 ? `Did you mean ${quoted(`${String(from)}.${only}`)}?` : undefined
    return { text: `${place} is ${describeValue(from)}; allowed is BLOCK.OUTPUT`, hint }
  })
}

function refuseBlock(reading: Reading, byId: Blocks, from: string, path: Path): undefined {
  const [id = '', output = ''] = from.split('.')
  return refuseFrom(reading, 'unknown_block', path, ({ who }) => {
    const near = suggest(id, byId.keys())
    const text = `${who} reads ${quoted(from)}, but there is no block ${quoted(id)}; blocks are ${listed(byId.keys())}`
    if (near !== undefined) return { text, hint: `Did you mean ${quoted(`${near}.${output}`)}?` }
    const isInput = path[0] === 'blocks' && (id === 'inputs' || id === 'context')
    const hint = `A run input needs no "from": call the input "${output}" and give its type.`
    return { text, hint: isInput ? hint : undefined }
  })
}

function refuseOutput(reading: Reading, { id = '', outputs }: BlockDraft, from: string, path: Path): undefined {
  return refuseFrom(reading, 'unknown_output', path, ({ who }) => {
    const names = [...outputs.keys()]
    const near = suggest(from.slice(id.length + 1), names) ?? (names.length === 1 ? names[0] : undefined)
    const text = `${who} reads ${quoted(from)}, but ${quoted(id)} has ${names.length === 0 ? 'no outputs' : `outputs ${listed(names)}`}`
    return { text, hint: near === undefined ? undefined : `Did you mean ${quoted(`${id}.${near}`)}?` }
  })
}

function refuseFrom({ problems }: Reading, code: string, path: Path, say: Problem['say']): undefined {
  problems.push({ code, path, say })
  return undefined
}

/** The blocks each `depends` names are upstream of its block: wires without a value. */
function connectDepends(
  reading: Reading,
  blocks: readonly BlockDraft[],
  byId: ReadonlyMap<string, BlockDraft>,
): readonly Wire[] {
  return blocks.flatMap((to) => {
    const path = [...to.path, 'depends']
    const ids = new Set(to.reads.depends.map(([id = '']) => id))
    return [...ids].flatMap((id) => {
      const from = byId.get(id)
      if (from !== undefined) return [{ from, to, path }]
      const say: Problem['say'] = ({ who }) => ({
        text: `${who} depends on ${quoted(id)}, but there is no such block; blocks are ${listed(byId.keys())}`,
        hint: didYouMean(suggest(id, byId.keys())),
      })
      reading.problems.push({ code: 'unknown_block', path, say })
      return []
    })
  })
}
