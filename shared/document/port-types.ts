import type { PortType } from '../dag/dag.ts'
import { fitsPort } from '../runs/block-inputs.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Path } from '../text/source-position.ts'
import { describeValue } from '../text/wording.ts'
import type { BlockDraft } from './block.ts'
import type { PortDraft, Ports } from './ports.ts'
import type { Reading } from './sections.ts'
import type { Wire } from './wires.ts'

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
    if (!hasSource && port.type === undefined && !port.broken) refuseUntyped(reading, port.path)
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

function refuseUntyped({ problems }: Reading, path: Path): void {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} has neither a type nor a source`,
    hint: 'Add a type, such as string, or from: BLOCK.OUTPUT.',
  })
  problems.push({ code: 'untyped_input', path, say })
}
