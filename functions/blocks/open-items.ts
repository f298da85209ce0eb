import { begunItems } from './begun-items.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportBlock, reportRecorded } from './block-report.ts'
import { claimAttempt } from './claim-attempt.ts'
import type { AttemptEnd } from './end-attempt.ts'
import { finishAttempt } from './finish-attempt.ts'
import { fromKept } from './kept-result.ts'
import { listItems } from './list-items.ts'
import { type OpenAttempt, openAttempt } from './open-attempt.ts'
import type { PreparedAttempt } from './prepare-attempt.ts'
import { requireEnd } from './require-end.ts'
import { lostForGood } from './try-block.ts'
import { skipBlock } from './without-attempt.ts'

interface Opened {
  readonly report: BlockReport
  /** How many items the machine has to run. */
  readonly count: number
}

/**
 * `_items_<id>` of a foreach block: `when` and pre-gates of the whole, then its list. block:started says how many items
 * begin; it takes no slot of max_parallel, each item does. Repeated, it answers what was begun.
 */
export async function openItems(call: BlockCall, undecided: boolean, signal: AbortSignal | undefined): Promise<Opened> {
  const begun = await begunItems(call)
  if (begun !== undefined) return { report: running(call, begun.attempt), count: begun.count }
  const open = await openAttempt(call)
  if (open === 'lost_for_good') return none(await lostForGood(call))
  call.world.log.note?.({ attempt: open.attempt, epoch: call.epoch })
  const ready = await listItems(call, open.attempt)
  if (ready.unwanted === true) return none(await skipBlock(call, { because: [], condition: 'when' }))
  if (undecided) await requireEnd(call, ready)
  const end = ready.taken ?? (await endWithoutItems(call, open, ready))
  if (end !== undefined) return none(await claimAndEnd(call, open, ready, end, signal))
  if ((await claimAttempt(call, open, ready, signal)) === 'ended') return none(reportRecorded(call))
  return { report: running(call, open.attempt), count: ready.items?.count ?? 0 }
}

/** How the block ends without its items: as it is wrong, or as a kept result has it. */
async function endWithoutItems(
  call: BlockCall,
  { attempt, failure: before }: OpenAttempt,
  { failure, hash, values }: PreparedAttempt,
): Promise<AttemptEnd | undefined> {
  if (failure !== undefined) return { attempt, verdicts: [], gate_events: [], failure }
  return fromKept(call, { attempt, inputs_hash: hash, values, feedback: before?.feedback ?? [] })
}

async function claimAndEnd(
  call: BlockCall,
  open: OpenAttempt,
  ready: PreparedAttempt,
  end: AttemptEnd,
  signal: AbortSignal | undefined,
): Promise<BlockReport> {
  const { items: _, ...whole } = ready
  if ((await claimAttempt(call, open, whole, signal)) === 'ended') return reportRecorded(call)
  return finishAttempt(call, end, { inputs_hash: ready.hash, inputs: ready, before: ready.pre.verdicts })
}

function running(call: BlockCall, attempt: number): BlockReport {
  return reportBlock(call, { state: 'running', attempt, seq: call.head.seq, verdicts: [] })
}

function none(report: BlockReport): Opened {
  return { report, count: 0 }
}
