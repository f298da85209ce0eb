import type { Block, GateUse, OutputPort, PortType, RetryPolicy, StepPin, ToolUse } from '../dag/dag.ts'
import type { Json } from '../text/json.ts'
import type { ActingBlock } from './agent-items.ts'
import { TURN_PORT } from './turn-record.ts'

/** Handler of a call that is made over a port: of a server's tool, or of one of ours. */
const TOOL_HANDLER = 'tool'

/** What an item of a block that acts has of its block: everything but what only the whole has. */
function itemPart(block: ActingBlock) {
  const { agent, when: _w, depends: _d, foreach: _f, cache: _c, on_gate_fail: _b, approval: _a, ...rest } = block
  return { agent, rest: { ...rest, upstream: [], gate_composition: { pre: 'all', post: 'all' } as const } }
}

/** One turn as a block: it asks the model once, and its output is what that said. */
export function turnBlock(block: ActingBlock): ActingBlock {
  const { agent, rest } = itemPart(block)
  const outputs = { [TURN_PORT]: { type: 'json' as const, required: true } }
  return { ...rest, agent, outputs, pre_gates: [], post_gates: [] }
}

/** Before the model's arguments are let through: what stands in the way of a call, by the gate's name. */
export interface Obstacle {
  readonly name: string
  readonly reason: string
  readonly on_fail: GateUse['on_fail']
}

export interface CallToMake {
  readonly args: Readonly<Record<string, Json>>
  readonly obstacles: readonly Obstacle[]
  /** Further inputs it may be given: the fields of a form. */
  readonly fields?: Block['inputs']
}

const CALL_RETRY: RetryPolicy = {
  max_attempts: 1,
  backoff: 'exponential',
  delay_ms: 1_000,
  max_delay_ms: 30_000,
  jitter: 'full',
}

/** A call is tried again where that cannot do anything twice; of a server's tool only what was never sent is. */
function triesOf({ kind, effect, idempotent }: ToolUse): number {
  return kind === 'mcp' || effect === 'read' || idempotent ? 3 : 1
}

/** One call as a block: its inputs are the arguments, and its gates those that the document puts before and behind the tool. */
export function callBlock(block: ActingBlock, tool: ToolUse, { args, obstacles, fields = {} }: CallToMake): Block {
  const { rest } = itemPart(block)
  const inputs = Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, { type: typeOfValue(value), required: true }]),
  )
  const gates = (after: boolean): readonly GateUse[] =>
    tool.gates.filter((gate) => gate.after === after).map(({ after: _, ...gate }) => gate)
  const common = {
    ...rest,
    inputs: { ...inputs, ...fields },
    outputs: outputsOfTool(tool),
    pre_gates: gatesBefore(obstacles, gates(false)),
    post_gates: gates(true),
    retry: { ...CALL_RETRY, max_attempts: triesOf(tool) },
    timeout_ms: tool.timeout_ms,
  }
  if (tool.kind === 'dag') {
    const name = tool.use.slice('dag.'.length)
    return { ...common, mode: 'dag', dag: { name, inputs: {}, outputs: {} } }
  }
  const pinned = stepOf(tool)
  const handler = tool.kind === 'step' ? tool.use : TOOL_HANDLER
  return { ...common, mode: 'deterministic', handler, config: tool.config, ...pinned, effect: effectOf(tool) }
}

/** What refuses a call stands alone: its gates judge no arguments that do not fit. People are asked after them. */
function gatesBefore(obstacles: readonly Obstacle[], gates: readonly GateUse[]): readonly GateUse[] {
  const refusing = obstacles.filter(({ on_fail }) => on_fail === 'fail')
  if (refusing.length > 0) return refusing.map(obstacleGate)
  return [...gates, ...obstacles.map(obstacleGate)]
}

/** A gate that does not hold, whatever the values are: what it says was found before. */
function obstacleGate({ name, reason, on_fail }: Obstacle): GateUse {
  return { name, check: { type: 'refuse', reason }, on_fail }
}

/** `once`: nobody but a person has it done again when nobody knows whether it was. */
function effectOf({ effect, idempotent }: ToolUse): StepPin['effect'] {
  return effect === 'write' && !idempotent ? 'once' : 'again'
}

function stepOf(tool: ToolUse): { readonly step?: StepPin } {
  const { step } = tool.pin ?? {}
  if (tool.kind !== 'step' || step === undefined) return {}
  return { step: { ...step, effect: step.effect === 'once' ? 'once' : effectOf(tool) } }
}

const TEXT_AND_DATA: Readonly<Record<string, OutputPort>> = {
  text: { type: 'string', required: false },
  structured: { type: 'json', required: false },
}

function outputsOfTool({ pin }: ToolUse): Readonly<Record<string, OutputPort>> {
  return pin?.outputs ?? TEXT_AND_DATA
}

function typeOfValue(value: Json): PortType {
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'json'
}
