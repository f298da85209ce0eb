import { NOTHING, plus } from '../../shared/runs/amounts.ts'
import { PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportBlock } from './block-report.ts'
import { childRun, opensChild } from './child-run.ts'
import { endAttempt } from './end-attempt.ts'
import { judgeChild } from './judge-child.ts'
import { openAttempt } from './open-attempt.ts'
import { readOwnProjection } from './read-outputs.ts'
import { retryBlock } from './retry-block.ts'
import { whenNotDone } from './when-not-done.ts'

/** Seconds, at most, between two looks for a place among the blocks that may run at once. */
const SLOT_WAIT_SEC = 15

/**
 * `_close_<id>` of a `mode: dag` block: takes what its ended child run made -> contract -> post-gates -> publish. No
 * lease fences such an attempt: it lives as long as its child, whose id follows from it. Without an ended child the
 * machine goes back to `<id>`, which opens it or waits for it again.
 */
export async function closeChild(call: BlockCall): Promise<BlockReport> {
  const { attempt, phase } = readOrdinal(call.lane ?? 0)
  if (call.lane === undefined) throw retryBlock(call, slotWait(call))
  if (phase === PHASE.retrying || !opensChild(call, attempt)) {
    // Due later, or not lost yet: the wait is the machine's.
    await openAttempt(call)
    throw retryBlock(call)
  }
  call.world.log.note?.({ attempt, epoch: call.epoch })
  const child = await call.world.runs.head(childRun(call, attempt), [])
  if (child === undefined || child.state === 'running') throw retryBlock(call)
  const end = await judgeChild(call, attempt, child)
  const claimed = await readOwnProjection(call, call.lane)
  // Only now: judges of what the child made do not use what was meant for it.
  call.meter.reserved = plus(call.meter.reserved, claimed?.reserved ?? NOTHING)
  const recorded = await endAttempt(call, end, { hash: claimed?.inputs_hash, untried: claimed?.untried })
  await whenNotDone(call, recorded, end.failure)
  return reportBlock(call, { state: recorded.state, attempt, seq: recorded.seq, verdicts: end.verdicts })
}

/** Nothing is claimed: when as many blocks run as may, it was refused and asks again, spread over seconds. */
function slotWait({ world, meta, head }: BlockCall): number {
  const { max_parallel } = meta.options
  const isFull = max_parallel > 0 && head.running.length >= max_parallel
  return isFull ? 1 + ((world.ids.random(1)[0] ?? 0) % SLOT_WAIT_SEC) : 0
}
