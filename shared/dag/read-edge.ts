import type { Json } from '../canonical.ts'
import type { BlockDraft } from './read-block.ts'
import { readCondition } from './read-condition.ts'
import { readSection } from './read-section.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import type { Wire } from './wire.ts'
import { listed, quoted } from './wording.ts'

/** An item of `edges`: order, or order and a value. */
export function readEdge(
  reading: Reading,
  byId: ReadonlyMap<string, BlockDraft>,
  given: Json,
  path: Path,
): readonly Wire[] {
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
  const source = withPort(reading, from, 'outputs', output, [...path, 'output'])
  const target = withPort(reading, to, 'inputs', input, [...path, 'input'])
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
  for (const name of new Set(outputs)) withPort(reading, from, 'outputs', name, path)
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
  return refuse(reading, 'missing_key', path, ({ place }) => ({ text: `${place} is missing`, hint }))
}

function edgeEnd(
  reading: Reading,
  byId: ReadonlyMap<string, BlockDraft>,
  id: string | undefined,
  path: Path,
): BlockDraft | undefined {
  if (id === undefined) return undefined
  const block = byId.get(id)
  if (block === undefined) unknownBlock(reading, byId, id, path)
  return block
}

/** A place of the document that names a block names none. */
export function unknownBlock(reading: Reading, byId: ReadonlyMap<string, BlockDraft>, id: string, path: Path): void {
  refuse(reading, 'unknown_block', path, ({ place }) => {
    const near = suggest(id, byId.keys()) ?? suggest(id.split('.')[0] ?? '', byId.keys())
    const text = `${place} is ${quoted(id)}, but there is no such block; blocks are ${listed(byId.keys())}`
    return { text, hint: didYouMean(near) }
  })
}

/** The block, when it has the port. */
function withPort(
  reading: Reading,
  block: BlockDraft | undefined,
  side: 'inputs' | 'outputs',
  port: string,
  path: Path,
): BlockDraft | undefined {
  if (block === undefined) return undefined
  const ports = block[side]
  if (ports.has(port)) return block
  refuse(reading, side === 'inputs' ? 'unknown_input' : 'unknown_output', path, ({ place }) => {
    const names = [...ports.keys()]
    const near = suggest(port, names) ?? (names.length === 1 ? names[0] : undefined)
    const text = `${place} is ${quoted(port)}, but block ${quoted(block.id ?? '')} has ${names.length === 0 ? `no ${side}` : `${side} ${listed(names)}`}`
    return { text, hint: didYouMean(near) }
  })
  return undefined
}

function refuse({ problems }: Reading, code: string, path: Path, say: Problem['say']): readonly [] {
  problems.push({ code, path, say })
  return []
}
