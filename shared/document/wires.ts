import { isKnownOutput, type PortType } from '../dag/dag.ts'
import { isName } from '../limits.ts'
import { fitsPort } from '../runs/block-inputs.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { describeValue, didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import type { BlockDraft } from './block.ts'
import { readCondition } from './control-flow.ts'
import type { PortDraft, Ports } from './ports.ts'
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

/** Whether `to` has to wait for `from`: not for what is known before anything runs. */
export function isOrder({ from, output }: Wire): boolean {
  return output === undefined || !isKnownOutput(from.work, output)
}

/** The type of every input; absent where a problem says why. */
export type InputTypes = ReadonlyMap<PortDraft, PortType>

/**
 * Gives each input its type, written or of its source, and compares both where both are known: equal, or both of file
 * and artifact.
 */
export function inferTypes(reading: Reading, blocks: readonly BlockDraft[], wires: readonly Wire[]): InputTypes {
  const ports = blocks.flatMap(({ inputs }) => [...inputs.values()])
  const types = new Map(ports.flatMap((port) => (port.type === undefined ? [] : [[port, port.type] as const])))
  const wired = new Set<PortDraft>()
  for (const wire of wires) {
    const input = wire.to.inputs.get(wire.input ?? '')
    if (input === undefined) continue
    wired.add(input)
    inferWire(reading, wire, input, types)
  }
  for (const port of ports) {
    const hasSource = port.from !== undefined || wired.has(port)
    if (!hasSource && port.type === undefined && !port.broken) refuseWithoutSource(reading, port.path)
  }
  for (const { inputs } of blocks) checkDefaults(reading, inputs, (port) => types.get(port))
  return types
}

function inferWire(reading: Reading, wire: Wire, input: PortDraft, types: Map<PortDraft, PortType>): void {
  if (input.broken) return
  const source = typeOf(wire)
  if (source === undefined) types.set(input, input.type ?? 'json')
  else if (input.type === undefined) types.set(input, source)
  else if (!fits(source, input.type)) refuseMismatch(reading, wire, source, input.type)
}

/** What arrives: a transform may make anything of it, and a fan-out makes a list of it. */
function typeOf({ from, output = '', transform }: Wire): PortType | undefined {
  if (transform !== undefined) return undefined
  return from.settled.foreach === undefined ? from.outputs.get(output)?.type : 'json'
}

/** A default must be a value of its port's type. */
export function checkDefaults(
  { problems }: Reading,
  ports: Ports,
  typeOf: (port: PortDraft) => PortType | undefined,
): void {
  for (const port of ports.values()) {
    const type = typeOf(port)
    const value = port.default
    if (value === undefined || type === undefined || fitsPort(type, value)) continue
    const say: Problem['say'] = ({ place }) => ({ text: `${place} is ${describeValue(value)}, which is no ${type}` })
    problems.push({ code: 'type_mismatch', path: [...port.path, 'default'], say })
  }
}

function fits(source: PortType, target: PortType): boolean {
  const isFile = (type: PortType) => type === 'file' || type === 'artifact'
  return source === target || (isFile(source) && isFile(target))
}

function refuseMismatch({ problems }: Reading, wire: Wire, source: PortType, target: PortType): void {
  const path = wire.path[0] === 'edges' ? [...wire.path, 'input'] : wire.path
  const from = `"${wire.from.id}.${wire.output}"`
  const say: Problem['say'] = () => ({
    text: `block "${wire.to.id}" reads ${from}, a ${source}, into its input "${wire.input}", a ${target}`,
    hint: `Give both the same type, or leave the type of "${wire.input}" out.`,
  })
  problems.push({ code: 'type_mismatch', path, say })
}

function refuseWithoutSource({ problems }: Reading, path: Path): void {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} has neither a type nor a source`,
    hint: 'Add a type, such as string, or from: BLOCK.OUTPUT.',
  })
  problems.push({ code: 'untyped_input', path, say })
}

/** What is done before a block, and what starts after it; found once a block. Cycles do no harm. */
export interface Reach {
  readonly before: (block: BlockDraft) => ReadonlySet<BlockDraft>
  readonly after: (block: BlockDraft) => ReadonlySet<BlockDraft>
}

/** Reachability over the wires. A block itself is in its sets only where it lies on a cycle. */
export function reachability(wires: readonly Wire[]): Reach {
  const sources = Map.groupBy(wires, ({ to }) => to)
  const targets = Map.groupBy(wires, ({ from }) => from)
  return {
    before: remembered((block) => (sources.get(block) ?? []).map(({ from }) => from)),
    after: remembered((block) => (targets.get(block) ?? []).map(({ to }) => to)),
  }
}

function remembered(next: (block: BlockDraft) => readonly BlockDraft[]): Reach['before'] {
  const known = new Map<BlockDraft, ReadonlySet<BlockDraft>>()
  return (block) => {
    const found = known.get(block) ?? reached(next, block)
    known.set(block, found)
    return found
  }
}

function reached(next: (block: BlockDraft) => readonly BlockDraft[], start: BlockDraft): ReadonlySet<BlockDraft> {
  const found = new Set(next(start))
  // A set's iteration also visits what is added to it on the way.
  for (const block of found) for (const other of next(block)) found.add(other)
  return found
}

/**
 * One problem a cycle: its members in the order of the arrows, and only them; a block that reads itself is one. Of
 * cycles that share a block one is answered, the next when it is mended. Linear in blocks and wires.
 */
export function checkCycles(reading: Reading, blocks: readonly BlockDraft[], wires: readonly Wire[]): void {
  const after = new Map<BlockDraft, Wire[]>(blocks.map((block) => [block, []]))
  for (const wire of wires) after.get(wire.from)?.push(wire)
  const search: CycleSearch = { wires, after, path: [], open: new Map(), done: new Set(), told: new Set() }
  for (const block of blocks) {
    if (search.done.has(block)) continue
    enterBlock(search, block)
    while (search.path.length > 0) advanceSearch(reading, search)
  }
}

interface CycleSearch {
  readonly wires: readonly Wire[]
  /** Wires that leave a block and were not followed yet. */
  readonly after: ReadonlyMap<BlockDraft, Wire[]>
  /** Blocks from the start of the search to here, and the place of each in it. */
  readonly path: BlockDraft[]
  readonly open: Map<BlockDraft, number>
  readonly done: Set<BlockDraft>
  /** Members of cycles already answered. */
  readonly told: Set<BlockDraft>
}

function enterBlock(search: CycleSearch, block: BlockDraft): void {
  search.open.set(block, search.path.length)
  search.path.push(block)
}

/** One step of a depth-first search: a wire back into the path closes a cycle. */
function advanceSearch(reading: Reading, search: CycleSearch): void {
  const { after, path, open, done } = search
  const here = path.at(-1)
  if (here === undefined) return
  const wire = after.get(here)?.pop()
  if (wire === undefined) {
    path.pop()
    open.delete(here)
    done.add(here)
    return
  }
  const back = open.get(wire.to)
  if (back !== undefined) refuseCycle(reading, search, path.slice(back))
  else if (!done.has(wire.to)) enterBlock(search, wire.to)
}

/** Told from its first block in the document on, at the wire that leads back into that block. */
function refuseCycle({ problems }: Reading, { told, wires }: CycleSearch, members: readonly BlockDraft[]): void {
  if (members.some((member) => told.has(member))) return
  for (const member of members) told.add(member)
  const turn = members.reduce((first, { index }, at) => (index < (members[first]?.index ?? 0) ? at : first), 0)
  const cycle = [...members.slice(turn), ...members.slice(0, turn)]
  const names = [...cycle, ...cycle.slice(0, 1)].map(({ id, index }) => id ?? `blocks[${index}]`)
  const text = `blocks wait for each other in a cycle: ${names.join(' -> ')}`
  const closing = wires.find(({ from, to }) => from === cycle.at(-1) && to === cycle[0])
  const path = closing?.path ?? []
  problems.push({ code: 'cycle', path, say: () => ({ text, hint: 'Remove one of these wires.' }) })
}
