import { begunItems } from './begun-items.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportBlock, reportRecorded } from './block-report.ts'
import { claimAttempt } from './claim-attempt.ts'
import { endAttempt } from './end-attempt.ts'
import { listItems } from './list-items.ts'
import { openAttempt } from './open-attempt.ts'
import { retryBlock } from './retry-block.ts'
import { lostForGood, whenNotDone } from './try-block.ts'
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
  const ready = await listItems(call, open.attempt)
  if (ready.unwanted === true) return none(await skipBlock(call, { because: [], condition: 'when' }))
  if (undecided && ready.failure === undefined) throw retryBlock(call)
  if ((await claimAttempt(call, open, ready, signal)) === 'ended') return none(reportRecorded(call))
  if (ready.failure === undefined) return { report: running(call, open.attempt), count: ready.items?.count ?? 0 }
  const { failure } = ready
  const recorded = await endAttempt(call, { attempt: open.attempt, verdicts: [], gate_events: [], failure })
  await whenNotDone(call, recorded, failure)
  return none(reportBlock(call, { ...recorded, attempt: open.attempt, verdicts: ready.pre.verdicts }))
}

function running(call: BlockCall, attempt: number): BlockReport {
  return reportBlock(call, { state: 'running', attempt, seq: call.head.seq, verdicts: [] })
}

function none(report: BlockReport): Opened {
  return { report, count: 0 }
}
