import { type ActingBlock, isActing } from '../../../shared/agents/agent-items.ts'
import { lastTurn, type NextRound, nextRound } from '../../../shared/agents/rounds.ts'
import { toolNamed } from '../../../shared/agents/transcript.ts'
import type { TurnRecord } from '../../../shared/agents/turn-record.ts'
import { readAnswerOutputs } from '../../../shared/runs/block-outputs.ts'
import { callItem, turnItem } from '../../../shared/runs/turns-and-calls.ts'
import { type BlockCall, readHead } from '../block-call.ts'
import { type BlockReport, reportBlock, reportRecorded } from '../block-report.ts'
import { claimAttempt, findNextAttempt } from '../claim.ts'
import { finishAttempt, skipBlock } from '../end.ts'
import { type BegunItems, begunItems, storeInputs } from '../inputs.ts'
import { askUnlessOver, type PreparedAttempt, prepareAttempt } from '../prepare.ts'
import { endFromCache } from '../reuse.ts'
import { endLostForGood } from '../try-block.ts'
import { readTurn } from './agent-item.ts'
import { isStoppedByPerson, type Rounds, readRounds, refusedCalls } from './read-rounds.ts'

/** What the machine runs next of an agent: an item, and which states are its. */
interface ItemToRun {
  readonly i: number
  readonly k: 'work' | 'step' | 'child'
}

export interface Round {
  readonly report: BlockReport
  /** None: the agent is done, or does not begin. */
  readonly next: readonly ItemToRun[]
}

/**
 * `_items_<id>` of an agent that acts: opens the block, and then says what comes next: a turn, the calls it asked for, or
 * nothing. Repeated, it answers the same until that has ended.
 */
export async function openRound(call: BlockCall, undecided: boolean, signal: AbortSignal | undefined): Promise<Round> {
  const begun = await begunItems(call)
  if (begun !== undefined) return { report: atWork(call, begun.attempt), next: await nextItems(call, begun) }
  const open = await findNextAttempt(call)
  if (open === 'lost_for_good') return over(await endLostForGood(call))
  call.world.log.note?.({ attempt: open.attempt, epoch: call.epoch })
  const ready = await prepareAttempt(call, open.attempt)
  if (ready.unwanted === true) return over(await skipBlock(call, { because: [], condition: 'when' }))
  if (undecided) await askUnlessOver(call, ready)
  const end = ready.taken ?? (await endWithoutTurns(call, open, ready))
  const { ends, own } = await readRounds(call)
  const turn = (lastTurn(ends) ?? -1) + 1
  const items =
    end === undefined
      ? { items: { count: 0, inputs_ref: await storeInputs(call, ready), turn }, keeps_items: own > 0 }
      : {}
  if ((await claimAttempt(call, open, { ...ready, ...items }, signal)) === 'ended') return over(reportRecorded(call))
  if (end !== undefined) {
    return over(await finishAttempt(call, end, { inputs_hash: ready.hash, inputs: ready, before: ready.pre.verdicts }))
  }
  return { report: atWork(call, open.attempt), next: [{ i: turnItem(turn), k: 'work' }] }
}

/** How the block ends before its first turn: as it is wrong, or as a kept result has it. */
async function endWithoutTurns(
  call: BlockCall,
  { attempt, failure: before }: Exclude<Awaited<ReturnType<typeof findNextAttempt>>, string>,
  { failure, hash, values }: PreparedAttempt,
) {
  if (failure !== undefined) return { attempt, verdicts: [], gate_events: [], failure }
  return endFromCache(call, { attempt, inputs_hash: hash, values, feedback: before?.feedback ?? [] })
}

function atWork(call: BlockCall, attempt: number): BlockReport {
  return reportBlock(call, { state: 'running', attempt, seq: call.head.seq, verdicts: [] })
}

function over(report: BlockReport): Round {
  return { report, next: [] }
}

async function nextItems(call: BlockCall, begun: BegunItems): Promise<readonly ItemToRun[]> {
  const { block } = call
  if (!isActing(block)) return []
  const { next, record } = await standingOf(call, block, begun)
  if (next.kind === 'turn') return [{ i: turnItem(next.turn), k: 'work' }]
  if (next.kind === 'calls') {
    return next.calls.map((n) => ({ i: callItem(next.turn, n), k: kindOf(block, record, n) }))
  }
  return []
}

function kindOf({ agent }: ActingBlock, record: TurnRecord | undefined, n: number): ItemToRun['k'] {
  const tool = toolNamed(agent.acting, record?.calls[n - 1]?.tool ?? '')
  if (tool?.kind === 'step') return 'step'
  return tool?.kind === 'dag' ? 'child' : 'work'
}

interface StandingNow {
  readonly next: NextRound
  readonly rounds: Rounds
  /** Of the newest turn, where it completed. */
  readonly record: TurnRecord | undefined
}

/** Where the agent stands: an answer that does not keep the output contract is followed by a turn that is told so. */
export async function standingOf(call: BlockCall, block: ActingBlock, begun: BegunItems): Promise<StandingNow> {
  const { max_turns, max_refused } = block.agent.acting
  const rounds = await readRounds(call)
  const first = begun.turn ?? 0
  const turn = lastTurn(rounds.ends)
  const record = turn === undefined ? undefined : await readTurn(await readHead(call), turn)
  const refused = refusedCalls(rounds, first)
  const stopped = isStoppedByPerson(rounds, first)
  const next = nextRound({ ends: rounds.ends, first, max_turns, max_refused, refused, stopped }, record)
  if (next.kind !== 'answer' || !(await mayRepair(call, block, { first, turn: next.turn }, record))) {
    return { next, rounds, record }
  }
  return { next: { kind: 'turn', turn: next.turn + 1 }, rounds, record }
}

/** Whether the answer breaks the contract, and turns of this attempt are left to mend it. */
async function mayRepair(
  call: BlockCall,
  block: ActingBlock,
  { first, turn }: { readonly first: number; readonly turn: number },
  record: TurnRecord | undefined,
): Promise<boolean> {
  if (record === undefined || !block.strict_output) return false
  if (turn - first + 1 >= block.agent.acting.max_turns) return false
  if (readAnswerOutputs(record.text, block.outputs).problems.length === 0) return false
  return (await repairsBefore(call, { first, turn })) < block.contract_repair_attempts
}

/** Answers right before this one, each of which was to be mended by the next. */
async function repairsBefore(
  call: BlockCall,
  { first, turn }: { readonly first: number; readonly turn: number },
): Promise<number> {
  let repairs = 0
  for (let before = turn - 1; before >= first; before -= 1) {
    const record = await readTurn(call, before)
    if (record === undefined || record.calls.length > 0) break
    repairs += 1
  }
  return repairs
}
