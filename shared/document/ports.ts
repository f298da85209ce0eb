import { CALLBACK_URL, PORT_TYPES, type PortType } from '../dag/dag.ts'
import { isName, LIMITS, NAME_RULE } from '../limits.ts'
import { type DescribedStep, type StepPorts, typesAgree } from '../steps/described-step.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { describeValue, didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import { type Reading, readMapping, readSection, SECTIONS } from './sections.ts'

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
    readonly deterministic?: Json | undefined
    readonly foreach?: Json | undefined
    readonly wait?: Json | undefined
  },
  path: Path,
): BlockPorts {
  const step = stepOf(reading, block.deterministic)
  if (step !== undefined) return readStepPorts(reading, block, step, path)
  const inputs = readPorts(reading, 'input', block.inputs, [...path, 'inputs'])
  const outputs = readPorts(reading, 'output', block.outputs, [...path, 'outputs'])
  checkCount(reading, outputs.size, [...path, 'outputs'])
  for (const port of outputs.values()) if (port.type === undefined && !port.broken) refuseUntyped(reading, port.path)
  if (block.mode === 'wait' && isCallback(block.wait))
    return { inputs, outputs: callbackOutputs(reading, outputs, path) }
  if (block.mode === 'research') return { inputs, outputs: researchOutputs(reading, outputs, path) }
  return { inputs, outputs: block.mode === 'approval' ? decisionOutputs(reading, outputs, inputs, path) : outputs }
}

/** The step a block names, where what its ports are is known. */
function stepOf({ steps = {} }: Reading, section: Json | undefined): DescribedStep | undefined {
  const handler = typeof section === 'object' && section !== null && 'handler' in section ? section.handler : undefined
  const step = typeof handler === 'string' && Object.hasOwn(steps, handler) ? steps[handler] : undefined
  return step === undefined || 'problem' in step ? undefined : step
}

/** A step has the ports its code says it has: a document may declare them, and has their types without. */
function readStepPorts(
  reading: Reading,
  block: Pick<Parameters<typeof readBlockPorts>[1], 'inputs' | 'outputs' | 'foreach'>,
  step: DescribedStep,
  path: Path,
): BlockPorts {
  const inputs = readPorts(reading, 'input', block.inputs, [...path, 'inputs'])
  const declared = readPorts(reading, 'output', block.outputs, [...path, 'outputs'])
  const outputs = step.outputs === undefined ? declared : portsOfStep(step.outputs, declared, [...path, 'outputs'])
  checkCount(reading, outputs.size, [...path, 'outputs'])
  for (const port of outputs.values()) if (port.type === undefined && !port.broken) refuseUntyped(reading, port.path)
  const used = new Map([...inputs].filter(([name]) => !isOfList(block.foreach, name)))
  if (step.inputs !== undefined) checkStepPorts(reading, 'input', used, step.inputs)
  if (step.outputs !== undefined) checkStepPorts(reading, 'output', declared, step.outputs)
  return { inputs: step.inputs === undefined ? inputs : typedBy(step.inputs, inputs), outputs }
}

/** An input that makes the list of a fan-out is none of its items'. */
function isOfList(foreach: Json | undefined, name: string): boolean {
  const items = typeof foreach === 'object' && foreach !== null && 'items' in foreach ? foreach.items : undefined
  return typeof items === 'string' && items.includes(`inputs.${name}`)
}

function portsOfStep(known: StepPorts, declared: Ports, path: Path): Ports {
  const all = Object.entries(known).map(([name, port]): [string, PortDraft] => {
    return [name, { path: [...path, name], broken: false, ...port, ...declared.get(name) }]
  })
  // What it does not have is a problem of its own, and whoever reads it is told once.
  return new Map([...all, ...[...declared].filter(([name]) => !Object.hasOwn(known, name))])
}

function typedBy(known: StepPorts, declared: Ports): Ports {
  return new Map(
    [...declared].map(([name, port]) => {
      const own = Object.hasOwn(known, name) ? known[name] : undefined
      const { required = own?.required } = port
      return [name, own === undefined ? port : { ...port, type: port.type ?? own.type, required }]
    }),
  )
}

/** Ports that a document declares: the step has them, and of the same types. */
function checkStepPorts({ problems }: Reading, side: 'input' | 'output', ports: Ports, known: StepPorts): void {
  const names = Object.keys(known)
  for (const [name, { type, path }] of ports) {
    const own = Object.hasOwn(known, name) ? known[name] : undefined
    if (own === undefined) {
      const text = `has the ${side} ${quoted(name)}, which its step has not; it has ${listed(names)}`
      const hint = didYouMean(suggest(name, names))
      const code = side === 'input' ? 'unknown_input' : 'unknown_output'
      problems.push({ code, path, on: 'key', say: ({ who }) => ({ text: `${who} ${text}`, hint }) })
    } else if (type !== undefined && !typesAgree(type, own.type)) {
      const say: Problem['say'] = ({ place }) => ({ text: `${place} is a ${type}; of its step it is a ${own.type}` })
      problems.push({ code: 'type_mismatch', path, say })
    }
  }
}

function isCallback(wait: Json | undefined): boolean {
  return typeof wait === 'object' && wait !== null && 'callback' in wait && wait.callback === true
}

/** The address is an output that nobody has to declare, and that the body of the callback cannot give. */
function callbackOutputs({ problems }: Reading, declared: Ports, path: Path): Ports {
  const own = declared.get(CALLBACK_URL)
  if (own?.type !== undefined && own.type !== 'string') {
    const say: Problem['say'] = ({ place }) => ({
      text: `${place} is declared ${own.type}, but an address is a string`,
    })
    problems.push({ code: 'type_mismatch', path: own.path, say })
  }
  const at = own?.path ?? [...path, 'outputs', CALLBACK_URL]
  return new Map([...declared, [CALLBACK_URL, { ...own, path: at, broken: false, type: 'string', required: false }]])
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

function refuseUntyped({ problems }: Reading, path: Path): void {
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

/** A port or run input as written: what is wrong with it is already a problem. */
export interface PortDraft {
  readonly path: Path
  /** Absent when it was not given, or was wrong. */
  readonly type?: PortType
  /** It was wrong: nothing more can be said about its type. */
  readonly broken: boolean
  readonly required?: boolean | undefined
  readonly default?: Json | undefined
  readonly description?: string | undefined
  /** Words of its values find the run. */
  readonly search?: boolean | undefined
  /** Not looked at yet. */
  readonly from?: Json | undefined
}

export type Ports = ReadonlyMap<string, PortDraft>

/** The ports of a mapping `name: type` or `name: {type, ..}`; a name that is not allowed is left out. */
export function readPorts(
  reading: Reading,
  kind: 'run_input' | 'input' | 'output',
  given: Json | undefined,
  path: Path,
): Ports {
  const ports = new Map<string, PortDraft>()
  if (given === undefined) return ports
  for (const [name, value] of Object.entries(readMapping(reading, given, path) ?? {})) {
    if (isName(name)) ports.set(name, readPort(reading, kind, value, [...path, name]))
    else refuseName(reading, [...path, name])
  }
  return ports
}

function readPort(reading: Reading, kind: 'run_input' | 'input' | 'output', given: Json, path: Path): PortDraft {
  if (typeof given === 'string') return { path, ...readType(reading, given, path) }
  const section = readSection(reading, SECTIONS[kind], given, path)
  if (section === undefined) return { path, broken: true }
  const { type, ...rest } = section
  return { path, ...rest, ...(type === undefined ? { broken: false } : readType(reading, type, [...path, 'type'])) }
}

function readType(
  { problems }: Reading,
  given: Json,
  path: Path,
): { type: PortType; broken: false } | { broken: true } {
  const type = PORT_TYPES.find((known) => known === given)
  if (type !== undefined) return { type, broken: false }
  const say: Problem['say'] = ({ place }) => {
    const name = typeof given === 'string' ? given : ''
    const near = suggest(name, PORT_TYPES)
    const wire = name.includes('.') ? `To wire an output, write { from: ${name.slice(0, 150)} }.` : undefined
    const text = `${place} has the unknown type ${describeValue(given)}; allowed are ${listed(PORT_TYPES)}`
    return { text, hint: didYouMean(near) ?? wire }
  }
  problems.push({ code: 'unknown_type', path, say })
  return { broken: true }
}

function refuseName({ problems }: Reading, path: Path): void {
  const say: Problem['say'] = ({ place }) => ({ text: `the name of ${place} is not allowed; allowed are ${NAME_RULE}` })
  problems.push({ code: 'illegal_name', path, on: 'key', say })
}

/** What a research block can publish: the whole SearchResult, or members of it by name. */
export const RESULT_PORTS: Readonly<Record<string, { readonly type: PortType; readonly required: boolean }>> = {
  result: { type: 'json', required: true },
  synthesis: { type: 'string', required: true },
  evidence: { type: 'json', required: true },
  /** What the answer was held against: the evidence with its bodies and facts, for gates. */
  sources: { type: 'json', required: true },
  /** Absent where the candidates of the first search were the answer. */
  decomp_trace: { type: 'json', required: false },
  tokens_used: { type: 'number', required: true },
  iterations: { type: 'number', required: true },
}

/** Of a block that declares none. */
const IMPLIED_OUTPUTS = ['result', 'synthesis', 'evidence'] as const

/** The declared ports, each of them one of RESULT_PORTS and of its type; without any, result, synthesis and evidence. */
function researchOutputs(reading: Reading, declared: Ports, path: Path): Ports {
  if (declared.size === 0) {
    const implied = IMPLIED_OUTPUTS.map((name): [string, PortDraft] => {
      return [name, { path: [...path, 'outputs', name], broken: false, ...RESULT_PORTS[name] }]
    })
    return new Map(implied)
  }
  for (const [name, port] of declared) {
    const made = Object.hasOwn(RESULT_PORTS, name) ? RESULT_PORTS[name] : undefined
    if (made === undefined) refuseResultName(reading, name, port.path)
    else if (port.type !== undefined && port.type !== made.type) refuseResultType(reading, name, port, made.type)
  }
  return declared
}

function refuseResultName({ problems }: Reading, name: string, path: Path): void {
  const known = Object.keys(RESULT_PORTS)
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} cannot be produced; a research block has ${listed(known)}`,
    hint: didYouMean(suggest(name, known)),
  })
  problems.push({ code: 'unknown_output', path, on: 'key', say })
}

function refuseResultType({ problems }: Reading, name: string, { path, type }: PortDraft, made: PortType): void {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is declared ${type}, but a search result's "${name}" is ${made}`,
  })
  problems.push({ code: 'type_mismatch', path, say })
}
