import { canonicalJson, sha256 } from '../canonical.ts'
import type { Block, Dag, InputPort, OutputPort, RunInput } from './dag.ts'
import type { BlockDraft } from './read-block.ts'
import type { PortDraft, Ports } from './read-ports.ts'
import type { Work } from './read-work.ts'
import type { InputTypes } from './settle-types.ts'
import type { Wire } from './wire.ts'

/** A document without problems, as the checks leave it. */
export interface Sound {
  readonly name: string
  readonly version?: string
  readonly budget?: Dag['budget']
  readonly goal: Pick<Dag, 'completion' | 'goal_contract'>
  readonly inputs: Ports
  readonly undeclared: Iterable<string>
  readonly blocks: readonly (BlockDraft & { readonly id: string; readonly work: Work })[]
  readonly wires: readonly Wire[]
  readonly types: InputTypes
}

/**
 * One canonical document: `from` and `edges` become one graph, defaults are filled in, every block has its hash
 * (sha256 of its own canonical JSON without place and hash). Two documents that mean the same are the same JSON.
 */
export function normalise(sound: Sound): Dag {
  const inputs: Record<string, RunInput> = {}
  for (const [name, port] of sound.inputs) inputs[name] = { ...runInput(port), declared: true }
  for (const name of sound.undeclared) inputs[name] = { required: true, declared: false }
  const into: Wire[][] = sound.blocks.map(() => [])
  for (const wire of sound.wires) into[wire.to.index]?.push(wire)
  const blocks = sound.blocks.map((block) => normalBlock(block, into[block.index] ?? [], sound.types))
  const { name, version, budget, goal } = sound
  const told = { ...(version === undefined ? {} : { version }), ...(budget === undefined ? {} : { budget }) }
  return { name, ...told, ...goal, inputs, blocks }
}

function runInput(port: PortDraft): Omit<RunInput, 'declared'> {
  const { type } = port
  return { ...(type === undefined ? {} : { type }), ...common(port) }
}

/** A port is required unless it says otherwise or has a default. */
function common({ required, default: value, description }: PortDraft) {
  return {
    required: required ?? value === undefined,
    ...(value === undefined ? {} : { default: value }),
    ...(description === undefined ? {} : { description }),
  }
}

function normalBlock(block: Sound['blocks'][number], wires: readonly Wire[], types: InputTypes): Block {
  const { id, index, settled, work } = block
  const sources = new Map(wires.map((wire) => [wire.input, wire]))
  const inputs: Record<string, InputPort> = {}
  for (const [name, port] of block.inputs) {
    const { from, output, transform } = sources.get(name) ?? {}
    const told = transform === undefined ? {} : { transform }
    const wired = from?.id === undefined || output === undefined ? {} : { from: { block: from.id, output, ...told } }
    // Settled for every input of a document without problems.
    inputs[name] = { type: types.get(port) ?? 'json', ...common(port), ...wired }
  }
  const outputs: Record<string, OutputPort> = {}
  for (const [name, port] of block.outputs) outputs[name] = { type: port.type ?? 'json', ...common(port) }
  const upstream = [...new Set(wires.map(({ from }) => from))]
    .sort((a, b) => a.index - b.index)
    .flatMap(({ id }) => id ?? [])
  const defined = { id, ...settled, inputs, outputs, upstream, ...work }
  const { budget } = block
  return { ...defined, ...(budget === undefined ? {} : { budget }), index, hash: sha256(canonicalJson(defined)) }
}
