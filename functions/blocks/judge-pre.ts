import type { BlockCall, BlockInputs } from './block-call.ts'
import { withEarlierWaivers } from './earlier-waivers.ts'
import { itemInputs, storedInputs } from './item-inputs.ts'
import { type Judged, judgeBlock } from './judge-block.ts'
import type { OpenAsk } from './open-ask.ts'
import { resolveBlockInputs } from './resolve-block-inputs.ts'
import { verdictsSoFar } from './verdicts-so-far.ts'
import { waiveGates } from './waive-gates.ts'

/** What an attempt works with: one that a person let go on, with what it had when it was asked about. */
export function attemptInputs(call: BlockCall): Promise<BlockInputs> {
  return call.resumed === undefined ? inputsNow(call) : askedInputs(call, call.resumed.ask)
}

/** The inputs of an attempt a person was asked about. */
export function askedInputs(call: BlockCall, { inputs_ref, projection }: OpenAsk): Promise<BlockInputs> {
  const ref = call.item === undefined ? (inputs_ref ?? projection.items?.inputs_ref) : undefined
  return ref === undefined ? inputsNow(call) : storedInputs(call, ref)
}

function inputsNow(call: BlockCall): Promise<BlockInputs> {
  return call.item === undefined ? resolveBlockInputs(call) : itemInputs(call)
}

/** The pre-gates of an attempt. After a question what was waived counts as met, and what was not judged is judged now. */
export async function judgePre(call: BlockCall, attempt: number, { values: inputs }: BlockInputs): Promise<Judged> {
  const facts = { inputs, outputs: {}, measured: { cost_usd: null, latency_ms: null } }
  const { resumed, block } = call
  if (resumed === undefined) return withEarlierWaivers(call, attempt, await judgeBlock(call, 'pre', attempt, facts))
  const { ask, yes } = resumed
  const waived = ask.about === 'pre_gates' ? waiveGates(call, 'pre', ask, yes) : []
  const names = new Set(block.pre_gates.map(({ name }) => name))
  const known = verdictsSoFar([...ask.events, ...waived], 'pre').filter(({ name }) => names.has(name))
  const judged = await judgeBlock(call, 'pre', attempt, facts, known)
  return { ...judged, events: [...waived, ...judged.events] }
}
