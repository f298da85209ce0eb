import type { ActingItem, ToolCall } from '../../../shared/agents/agent-items.ts'
import type { ToolUse } from '../../../shared/dag/dag.ts'
import { Fault } from '../../../shared/errors.ts'
import { checkOutputs } from '../../../shared/runs/block-outputs.ts'
import { ordinal, PHASE, readOrdinal } from '../../../shared/runs/lane.ts'
import type { ArtifactItem } from '../../../shared/runs/run-store-items.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import { type BuiltinAnswer, isBuiltinTool } from '../../../shared/tools/builtin-tools.ts'
import type { McpResult } from '../../../shared/tools/mcp-port.ts'
import { readMcpUse } from '../../../shared/tools/settings.ts'
import { readOwnProjection } from '../../record/projections.ts'
import type { Dispatch, Produced } from '../attempt-outcome.ts'
import { appendBase, type BlockCall, eventBase, laneOwnerOf, readHead, toolKey } from '../block-call.ts'
import { begunItems, readStoredInputs } from '../inputs.ts'
import { isOnce } from '../lost-step.ts'
import { questionAnswer } from '../question.ts'
import { type BuiltinCall, type CalledBuiltin, callBuiltin } from './builtin-tools.ts'
import { isTaintedFile } from './taint.ts'

/** A call that a function makes itself: of a server's tool, or of one of ours. */
export async function dispatchToolCall(call: BlockCall, acting: ActingItem, dispatch: Dispatch): Promise<Produced> {
  const { tool, args } = requireToolCall(acting)
  if (isOnce(call.block)) await beginWork(call, dispatch.attempt)
  const made = await makeCall(call, acting, dispatch)
  call.meter.answered = true
  const { values, problems } = checkOutputs(made.values, call.block.outputs)
  const hash = sha256(canonicalJson(args))
  const facts = { provider: 'tool', model: tool.use, params_hash: hash, prompt_hash: tool.pin?.hash ?? hash }
  return {
    values,
    problems,
    facts: { ...facts, tokens_in: 0, tokens_out: 0, usd_micros: 0, finish_reason: 'returned', ...made.taint },
  }
}

function requireToolCall({ call, whole }: ActingItem): ToolCall {
  if (call !== undefined) return call
  throw new Fault('Bug', 'no_such_item', `A turn of block "${whole.id}" is no call of a tool.`)
}

interface Made {
  readonly values: Readonly<Record<string, Json>>
  readonly taint?: Pick<Produced['facts'], 'tainted'>
}

async function makeCall(call: BlockCall, acting: ActingItem, { attempt, values, signal }: Dispatch): Promise<Made> {
  const { tool } = requireToolCall(acting)
  if (tool.use === 'ask_person') return { values: await questionAnswer(call) }
  if (tool.kind === 'builtin')
    return answerOf(await callBuiltin(builtinName(tool), values, ownCall(call, acting, attempt, signal)))
  const { server, tool: name } = readMcpUse(tool.use)
  const key = toolKey(call, requireToolCall(acting))
  const expected = tool.pin ?? { description: '', input_schema: {}, hash: '' }
  const result = await call.world.mcp.call(server, { tool: name, expected, args: values, key, signal })
  const { text, is_error } = result
  if (is_error) {
    const message = `${tool.use} says that it failed: ${text === '' ? 'without a word' : text}`
    throw new Fault('Rejected', 'tool_failed', message)
  }
  return answerOf(result)
}

function answerOf({
  text,
  structured,
  tainted,
}: Pick<McpResult, 'text' | 'structured'> & Pick<BuiltinAnswer, 'tainted'>): Made {
  const values = { text, ...(structured === undefined ? {} : { structured }) }
  return tainted === true ? { values, taint: { tainted } } : { values }
}

function builtinName({ use }: ToolUse): CalledBuiltin {
  if (isBuiltinTool(use) && use !== 'ask_person') return use
  throw new Fault('Bug', 'unknown_tool', `There is no tool "${use}".`)
}

/** Puts that do not fit into the run's room are refused. */
function ownCall(
  call: BlockCall,
  { whole, call: made }: ActingItem,
  attempt: number,
  signal: AbortSignal,
): BuiltinCall {
  const { storage, run, block, epoch, item } = call
  const inputs = async () => {
    const begun = await begunItems({ ...call, block: whole, item: undefined })
    return begun === undefined ? {} : (await readStoredInputs(call, begun.inputs_ref)).values
  }
  const taint = { tainted: made?.tainted === true, isTainted: (file: ArtifactItem) => isTaintedFile(call, file) }
  return { world: storage.bounded, run, inputs, block_id: block.id, epoch, attempt, item, signal, ...taint }
}

/** From here on the call may have had an effect: told before it is made. */
async function beginWork(call: BlockCall, attempt: number): Promise<void> {
  const { world, epoch, meter } = call
  const now = await readHead(call)
  const lane = now.lane ?? 0
  const { leg } = readOrdinal(lane)
  const at = ordinal({ epoch, attempt, leg, phase: PHASE.begun })
  const claimed = await readOwnProjection(call, lane)
  const holder = claimed?.holder ?? ''
  const done = await world.runs.append({
    ...appendBase(now),
    ordinal: at,
    guard: { is: now.raw_lane },
    at: new Date(world.clock.now()).toISOString(),
    events: [{ type: 'step:started', ...eventBase(call), attempt, data: { holder } }],
    projection: { ...claimed, ...laneOwnerOf(call), ordinal: at, attempt, state: 'running' },
  })
  if (done.ok) {
    if (meter.claim !== undefined) meter.claim = { ...meter.claim, ordinal: at }
    return
  }
  throw new Fault('Rejected', 'superseded', `Run "${call.run.run_id}" was stopped or this attempt superseded.`)
}
