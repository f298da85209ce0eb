import type { ActingItem, ToolCall } from '../../../shared/agents/agent-items.ts'
import { Fault } from '../../../shared/errors.ts'
import { checkOutputs } from '../../../shared/runs/block-outputs.ts'
import { ordinal, PHASE, readOrdinal } from '../../../shared/runs/lane.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import { readOwnProjection } from '../../record/projections.ts'
import type { Dispatch, Produced } from '../attempt-outcome.ts'
import { appendBase, type BlockCall, callKey, eventBase, laneOwnerOf, readHead } from '../block-call.ts'
import { isOnce } from '../lost-step.ts'
import { questionAnswer } from '../question.ts'
import { callBuiltin } from './builtin-tools.ts'

/** A call that a function makes itself: of a server's tool, or of one of ours. */
export async function dispatchToolCall(call: BlockCall, acting: ActingItem, dispatch: Dispatch): Promise<Produced> {
  const { tool, args } = requireToolCall(acting)
  if (isOnce(call.block)) await beginWork(call, dispatch.attempt)
  const made = await makeCall(call, acting, dispatch)
  const { values, problems } = checkOutputs(made, call.block.outputs)
  const hash = sha256(canonicalJson(args))
  const facts = { provider: 'tool', model: tool.use, params_hash: hash, prompt_hash: tool.pin?.hash ?? hash }
  return {
    values,
    problems,
    facts: { ...facts, tokens_in: 0, tokens_out: 0, usd_micros: 0, finish_reason: 'returned' },
  }
}

function requireToolCall({ call, whole }: ActingItem): ToolCall {
  if (call !== undefined) return call
  throw new Fault('Bug', 'no_such_item', `A turn of block "${whole.id}" is no call of a tool.`)
}

async function makeCall(
  call: BlockCall,
  acting: ActingItem,
  { attempt, values, signal }: Dispatch,
): Promise<Readonly<Record<string, Json>>> {
  const { tool } = requireToolCall(acting)
  if (tool.use === 'ask_person') return questionAnswer(call)
  if (tool.kind === 'builtin') return callBuiltin(tool.use, values, { call, attempt, signal })
  const dot = tool.use.indexOf('.')
  const [server, name] = [tool.use.slice(0, dot), tool.use.slice(dot + 1)]
  const key = callKey(call, attempt, 0)
  const expected = tool.pin ?? { description: '', input_schema: {}, hash: '' }
  const result = await call.world.mcp.call(server, { tool: name, expected, args: values, key, signal })
  const { text, structured, is_error } = result
  if (is_error) {
    const message = `${tool.use} says that it failed: ${text === '' ? 'without a word' : text}`
    throw new Fault('Rejected', 'tool_failed', message)
  }
  return { text, ...(structured === undefined ? {} : { structured }) }
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
