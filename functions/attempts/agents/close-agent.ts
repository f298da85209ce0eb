import type { ActingBlock } from '../../../shared/agents/agent-items.ts'
import type { TurnRecord } from '../../../shared/agents/turn-record.ts'
import { Fault } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { readAnswerOutputs } from '../../../shared/runs/block-outputs.ts'
import { turnItem } from '../../../shared/runs/turns-and-calls.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { canonicalJson } from '../../../shared/text/json.ts'
import { safeOneLine } from '../../../shared/text/redact.ts'
import { shortRedacted } from '../../../shared/text/short-text.ts'
import { storeAnswersInFiles } from '../ask-agent.ts'
import { type AttemptEnd, type Failure, type Produced, toFailure } from '../attempt-outcome.ts'
import type { BlockCall, BlockInputs } from '../block-call.ts'
import { type BlockReport, reportAwaitingBounce } from '../block-report.ts'
import { finishAttempt } from '../end.ts'
import { type BegunItems, begunItems, readStoredInputs } from '../inputs.ts'
import { judgeProduced } from '../judge-gates.ts'
import { answeredByTurns } from './attempt-work.ts'
import { standingOf } from './next-round.ts'

/** `_close_<id>` of an agent that acts: its last words -> contract -> post-gates -> publish. */
export async function closeAgent(call: BlockCall, whole: ActingBlock): Promise<BlockReport> {
  const begun = await begunItems(call)
  if (begun === undefined) return reportAwaitingBounce(call)
  call.world.log.note?.({ attempt: begun.attempt, epoch: call.epoch })
  const inputs = await readStoredInputs(call, begun.inputs_ref)
  const end = await endOf(call, whole, begun, inputs)
  return finishAttempt(call, end, { inputs_hash: sha256(canonicalJson(inputs.values)), inputs, before: [] })
}

async function endOf(
  call: BlockCall,
  whole: ActingBlock,
  begun: BegunItems,
  { values }: BlockInputs,
): Promise<AttemptEnd> {
  const { attempt } = begun
  try {
    const { next, rounds, record } = await standingOf(call, whole, begun)
    const came = await answeredByTurns(call, begun.turn ?? 0, record)
    if (next.kind !== 'answer' || record === undefined) {
      const failed = rounds.projections.get(turnItem(next.turn))?.failure
      const failure = next.kind === 'bound' ? boundFailure(whole, next.bound, record) : turnFailure(next.turn, failed)
      return { attempt, verdicts: [], gate_events: [], failure, came }
    }
    const latency_ms = Math.max(0, call.world.clock.now() - Date.parse(begun.since))
    const produced = await producedOf(call, whole, record, attempt, values)
    return { ...(await judgeProduced(call, attempt, values, produced, latency_ms)), came }
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return { attempt, verdicts: [], gate_events: [], failure: toFailure(call, error) }
  }
}

async function producedOf(
  call: BlockCall,
  whole: ActingBlock,
  { text, finish_reason, tainted }: TurnRecord,
  attempt: number,
  values: BlockInputs['values'],
): Promise<Produced> {
  const read = readAnswerOutputs(text, whole.outputs)
  const dispatch = { attempt, values, feedback: [], signal: call.host ?? NEVER }
  const hash = sha256(text)
  const facts = {
    provider: 'agent',
    model: 'turns',
    params_hash: hash,
    prompt_hash: hash,
    // Its turns tell what they used.
    tokens_in: 0,
    tokens_out: 0,
    finish_reason,
    ...(tainted ? { tainted } : {}),
  }
  return { ...read, ...(await storeAnswersInFiles(call, dispatch, read.values)), facts }
}

const NEVER = new AbortController().signal

type Failed = { readonly code: string; readonly reason: string } | undefined

function turnFailure(turn: number, failed: Failed): Failure {
  const { code = 'turn_failed', reason = 'its record names no reason' } = failed ?? {}
  const told = shortRedacted(`turn ${turn + 1}: ${reason}`)
  return { code, reason: told, retry: false, feedback: [told] }
}

const BOUNDS = {
  max_turns: ({ max_turns }: ActingBlock['agent']['acting']) => `not done after ${max_turns} turns (max_turns)`,
  max_refused: ({ max_refused }: ActingBlock['agent']['acting']) =>
    `more than ${max_refused} of its calls were refused (max_refused)`,
  stopped_by_person: () => 'a person said no to a call, and stopped it',
  max_calls: () => `not done after ${LIMITS.agent_calls} calls`,
} as const

/** What was reached so far is said with it. */
function boundFailure({ agent }: ActingBlock, bound: keyof typeof BOUNDS, record: TurnRecord | undefined): Failure {
  const words =
    record === undefined || record.text.trim() === '' ? '' : `; it said last: ${safeOneLine(record.text, 200)}`
  const reason = shortRedacted(`${BOUNDS[bound](agent.acting)}${words}`)
  return { code: bound, reason, retry: false, feedback: [reason] }
}
