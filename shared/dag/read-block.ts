import type { Json } from '../canonical.ts'
import type { Block, PortType, RetryPolicy } from './dag.ts'
import { isName, NAME_RULE } from './name.ts'
import { readApproval } from './read-approval.ts'
import { readComposition } from './read-composition.ts'
import { readGates } from './read-gates.ts'
import { type PortDraft, type Ports, readPorts } from './read-ports.ts'
import { type Mapping, type Reading, readSection } from './read-section.ts'
import { readWork, type Work } from './read-work.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { shown } from './wording.ts'

/** A block read on its own; references to other blocks are not looked at yet. */
export interface BlockDraft {
  readonly index: number
  readonly path: Path
  /** Absent when missing or not allowed. */
  readonly id?: string
  readonly inputs: Ports
  readonly outputs: Ports
  readonly work?: Work
  /** What goes into the normalised block as it is. */
  readonly settled: Pick<
    Block,
    | 'name'
    | 'pre_gates'
    | 'post_gates'
    | 'gate_composition'
    | 'approval'
    | 'retry'
    | 'timeout_ms'
    | 'strict_output'
    | 'contract_repair_attempts'
  >
}

/** Reads one item of `blocks`, with the defaults of spec dag and decisions ("Block state, exactly"). */
export function readBlock(reading: Reading, given: Json, index: number): BlockDraft | undefined {
  const path = ['blocks', index]
  const section = readSection(reading, SECTIONS.block, given, path, 'block')
  if (section === undefined) return undefined
  const id = readId(reading, section.id, [...path, 'id'])
  const name = section.name ?? id ?? ''
  const inputs = readPorts(reading, 'input', section.inputs, [...path, 'inputs'])
  const approval = readApproval(reading, section.approval, [...path, 'approval'], name)
  // readSection answered: it is a mapping.
  const work = readWork(reading, given as Mapping, path, approval)
  const outputs = readOutputs(reading, section, path, inputs)
  const gates = readGates(reading, section, path, {
    pre: new Set(inputs.keys()),
    post: new Set([...inputs.keys(), ...outputs.keys()]),
  })
  const settled: BlockDraft['settled'] = {
    name,
    pre_gates: gates.pre.uses,
    post_gates: gates.post.uses,
    gate_composition: readComposition(reading, section.gate_composition, [...path, 'gate_composition'], gates),
    ...(approval === undefined ? {} : { approval }),
    retry: readRetry(reading, section.retry, [...path, 'retry']),
    timeout_ms: section.timeout_ms ?? 300_000,
    strict_output: section.strict_output ?? true,
    contract_repair_attempts: section.contract_repair_attempts ?? 1,
  }
  const known = { ...(id === undefined ? {} : { id }), ...(work === undefined ? {} : { work }) }
  return { index, path, ...known, inputs, outputs, settled }
}

function readId({ problems }: Reading, id: Json | undefined, path: Path): string | undefined {
  if (typeof id === 'string' && isName(id)) return id
  if (id === undefined || id === null) {
    const say: Problem['say'] = ({ who }) => ({ text: `${who} has no id`, hint: 'Add id: NAME.' })
    problems.push({ code: 'missing_id', path, say })
  } else {
    const text = `has the id ${shown(id)}, which is not allowed; allowed are ${NAME_RULE}`
    problems.push({ code: 'illegal_id', path, say: () => ({ text: `${path[0]}[${path[1]}] ${text}` }) })
  }
  return undefined
}

/** What a decision leaves behind, without being declared (spec dag, `mode: approval`). */
const DECISION: ReadonlyMap<string, { readonly type: PortType; readonly required: boolean }> = new Map([
  ['approved', { type: 'boolean', required: true }],
  ['decided_by', { type: 'string', required: true }],
  ['feedback', { type: 'string', required: false }],
])

function readOutputs(
  reading: Reading,
  block: { readonly outputs?: Json | undefined; readonly mode?: Json | undefined },
  path: Path,
  inputs: Ports,
): Ports {
  const declared = readPorts(reading, 'output', block.outputs, [...path, 'outputs'])
  for (const port of declared.values()) if (port.type === undefined && !port.broken) untyped(reading, port.path)
  if (block.mode !== 'approval') return declared
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

function readRetry(reading: Reading, given: Json | undefined, path: Path): RetryPolicy {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.retry, given, path)
  return {
    max_attempts: Math.max(1, section?.max_attempts ?? 1),
    backoff: section?.backoff ?? 'exponential',
    delay_ms: section?.delay_ms ?? 1_000,
    max_delay_ms: section?.max_delay_ms ?? 30_000,
    jitter: section?.jitter ?? 'full',
  }
}
