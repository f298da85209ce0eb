import type { Json } from '../canonical.ts'
import type { PortType } from './dag.ts'
import { LIMITS } from './limits.ts'
import { type PortDraft, type Ports, readPorts } from './read-ports.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { researchOutputs } from './research-outputs.ts'
import type { Path } from './source.ts'

export interface BlockPorts {
  readonly inputs: Ports
  readonly outputs: Ports
}

/** Inputs and outputs of a block; an approval has the outputs of its decision without declaring them, a research block its result. */
export function readBlockPorts(
  reading: Reading,
  block: {
    readonly inputs?: Json | undefined
    readonly outputs?: Json | undefined
    readonly mode?: Json | undefined
  },
  path: Path,
): BlockPorts {
  const inputs = readPorts(reading, 'input', block.inputs, [...path, 'inputs'])
  const outputs = readPorts(reading, 'output', block.outputs, [...path, 'outputs'])
  checkCount(reading, outputs.size, [...path, 'outputs'])
  for (const port of outputs.values()) if (port.type === undefined && !port.broken) untyped(reading, port.path)
  if (block.mode === 'research') return { inputs, outputs: researchOutputs(reading, outputs, path) }
  return { inputs, outputs: block.mode === 'approval' ? decisionOutputs(reading, outputs, inputs, path) : outputs }
}

function checkCount({ problems }: Reading, count: number, path: Path): void {
  if (count <= LIMITS.outputs_per_block) return
  const text = `has ${count} outputs; the limit is ${LIMITS.outputs_per_block}`
  const hint = 'Put several values into one output of type json.'
  problems.push({ code: 'limit_exceeded', path, on: 'key', say: ({ who }) => ({ text: `${who} ${text}`, hint }) })
}

/** What a decision leaves behind (mode approval). */
const DECISION: ReadonlyMap<string, { readonly type: PortType; readonly required: boolean }> = new Map([
  ['approved', { type: 'boolean', required: true }],
  ['decided_by', { type: 'string', required: true }],
  ['feedback', { type: 'string', required: false }],
])

function decisionOutputs(reading: Reading, declared: Ports, inputs: Ports, path: Path): Ports {
  const outputs = new Map<string, PortDraft>()
  for (const [name, port] of DECISION) outputs.set(name, { path: [...path, 'outputs', name], broken: false, ...port })
  for (const [name, port] of declared) {
    if (!DECISION.has(name)) refuseOutput(reading, port.path, inputs.has(name))
    else if (port.type !== undefined && port.type !== outputs.get(name)?.type) refuseDecisionType(reading, name, port)
    outputs.set(name, { ...port, ...DECISION.get(name) })
  }
  return outputs
}

function untyped({ problems }: Reading, path: Path): void {
  const say: Problem['say'] = ({ place }) => ({ text: `${place} has no type`, hint: 'Add a type, such as string.' })
  problems.push({ code: 'missing_type', path, say })
}

function refuseOutput({ problems }: Reading, path: Path, isInput: boolean): void {
  const say: Problem['say'] = ({ place }) =>
    isInput
      ? { text: `${place} hands an input on, which is not supported yet`, hint: 'Wire the input from its own source.' }
      : { text: `${place} cannot be produced; an approval has approved, decided_by and feedback` }
  problems.push({ code: isInput ? 'not_yet_supported' : 'unknown_output', path, on: 'key', say })
}

function refuseDecisionType({ problems }: Reading, name: string, { path, type }: PortDraft): void {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is declared ${type}, but a decision's "${name}" is ${DECISION.get(name)?.type}`,
  })
  problems.push({ code: 'type_mismatch', path, say })
}
