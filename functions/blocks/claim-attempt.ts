import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { Appended } from '../../shared/runs/run-store.ts'
import type { BlockCall } from './block-call.ts'
import { claimAppend, openingOf } from './claim-append.ts'
import type { OpenAttempt } from './open-attempt.ts'
import { laneHead } from './own-lane.ts'
import type { PreparedAttempt } from './prepare-attempt.ts'
import { recordEvents } from './record-events.ts'
import { retryBlock } from './retry-block.ts'

const SLOT_WAIT_MS = 15_000
/** An invocation ends after 900 s, and its state after 930: a wait for a slot leaves room for the whole dispatch. */
const INVOCATION_MS = 900_000
const SPARE_MS = 30_000

/** A claimed attempt: nobody else may run it while its lease lives. */
export interface Claimed {
  readonly attempt: number
  readonly holder: string
  readonly seq: number
}

/**
 * Claims the attempt: block:started with holder and lease, if the lane is as it was read and fewer than max_parallel
 * blocks run. Full: waits for a slot where the place can wake it (until the invocation's own time runs short), else
 * RetryBlock. `ended`: the run is over. A host that gave up claims nothing.
 */
export async function claimAttempt(
  call: BlockCall,
  open: OpenAttempt,
  prepared: PreparedAttempt,
  signal: AbortSignal | undefined,
): Promise<Claimed | 'ended'> {
  const { world, run } = call
  const until = world.clock.now() + slotBudget(call)
  const holder = prepared.child ?? `${world.ids.boot}/${Buffer.from(world.ids.random(9)).toString('base64url')}`
  for (;;) {
    signal?.throwIfAborted()
    const done = await world.runs.append(claimAppend(call, open, prepared, holder))
    if (done.ok) return recordPre(call, { attempt: open.attempt, holder, seq: done.seq }, prepared)
    if (done.because !== 'full') return refused(call, done)
    const left = Math.min(SLOT_WAIT_MS, until - world.clock.now())
    if (left <= 0 || !(await world.waker.slot(run, left, signal))) {
      throw retryBlock(call, slotWait(call))
    }
  }
}

function slotBudget({ world, block }: BlockCall): number {
  return INVOCATION_MS - Math.min(block.timeout_ms, world.settings.safety.max_block_ms) - SPARE_MS
}

/** The run is over; or the lane moved, and what it says now decides. */
function refused(call: BlockCall, { because }: Extract<Appended, { readonly ok: false }>): 'ended' {
  if (because === 'terminal') return 'ended'
  throw retryBlock(call)
}

/** 1 to 15 seconds, spread so that waiting blocks do not come back together. */
function slotWait({ world }: BlockCall): number {
  return 1 + ((world.ids.random(1)[0] ?? 0) % 15)
}

async function recordPre(call: BlockCall, claimed: Claimed, prepared: PreparedAttempt): Promise<Claimed | 'ended'> {
  const { pre } = prepared
  if (pre.events.length === 0) return claimed
  const { world, epoch } = call
  const { attempt } = claimed
  const at = ordinal({ epoch, attempt, phase: PHASE.claimed + 9 })
  const time = new Date(world.clock.now()).toISOString()
  const done = await recordEvents(world, { epoch, attempt, phase: PHASE.claimed + 1 }, pre.events, {
    ...laneHead(call),
    ordinal: at,
    guard: { below: at },
    at: time,
    ...openingOf(call, prepared),
  })
  return done.ok ? { ...claimed, seq: done.seq } : refused(call, done)
}
