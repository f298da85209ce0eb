import type { Append, Appended } from '../../shared/runs/append.ts'
import type { LeasePool } from '../../shared/runs/leases.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { BlockCall } from './block-call.ts'
import { claimAppend, isRecordedLater, openingOf } from './claim-append.ts'
import type { OpenAttempt } from './open-attempt.ts'
import { laneHead } from './own-lane.ts'
import type { PreparedAttempt } from './prepare-attempt.ts'
import { attemptLease, type ProviderLease } from './provider-lease.ts'
import { recordEvents } from './record-events.ts'
import { retryBlock } from './retry-block.ts'
import { settleMeter } from './settle-meter.ts'
import { nextAnswered } from './steps-left.ts'

const SLOT_WAIT_MS = 15_000
/** Places at a provider are given back in other processes too, which wake nobody here. */
const PLACE_WAIT_MS = 2_000
/** An invocation ends after 900 s, and its state after 930: a wait for a slot leaves room for the whole dispatch. */
const INVOCATION_MS = 900_000
const SPARE_MS = 30_000

/** A claimed attempt: nobody else may run it while its lease lives. */
export interface Claimed {
  readonly attempt: number
  readonly holder: string
  readonly seq: number
  /** Its place at its provider, until its calls are done. */
  readonly lease: ProviderLease
}

/**
 * Claims the attempt: block:started with holder and lease, if the lane is as it was read, fewer than max_parallel
 * blocks run and its provider has a place for it. Full: waits for a slot where the place can wake it (until the invocation's own time runs short), else
 * RetryBlock. `ended`: the run is over. A host that gave up claims nothing.
 */
export async function claimAttempt(
  call: BlockCall,
  open: OpenAttempt,
  prepared: PreparedAttempt,
  signal: AbortSignal | undefined,
): Promise<Claimed | 'ended'> {
  const { world } = call
  const until = world.clock.now() + slotBudget(call)
  const holder = prepared.child ?? `${world.ids.boot}/${Buffer.from(world.ids.random(9)).toString('base64url')}`
  for (;;) {
    signal?.throwIfAborted()
    const done = await claimOnce(call, open, prepared, holder)
    if (done === 'ended' || !('full' in done)) return done
    if ((await waitForPlace(call, done.full, until, signal)) === 'ended') return 'ended'
  }
}

/** RetryBlock where nobody can be woken, or when the invocation's own time runs short. */
async function waitForPlace(
  call: BlockCall,
  full: RunKey | LeasePool,
  until: number,
  signal: AbortSignal | undefined,
): Promise<'waited' | 'ended'> {
  const { world, run } = call
  const atProvider = !('run_id' in full)
  const left = Math.min(atProvider ? PLACE_WAIT_MS : SLOT_WAIT_MS, until - world.clock.now())
  if (left <= 0 || !(await world.waker.slot(full, left, signal))) throw retryBlock(call, slotWait(call))
  // The end of the run wakes only those who wait for one of its own places.
  return atProvider && (await world.runs.head(run, []))?.state !== 'running' ? 'ended' : 'waited'
}

/** `full`: who has no place for it, the run or the provider. Nothing is held while it waits. */
async function claimOnce(
  call: BlockCall,
  open: OpenAttempt,
  prepared: PreparedAttempt,
  holder: string,
): Promise<Claimed | 'ended' | { readonly full: RunKey | LeasePool }> {
  const lease = isDispatched(prepared) ? await attemptLease(call, holder) : NO_LEASE
  if (!('end' in lease)) return { full: lease }
  const claimed = { attempt: open.attempt, holder, lease }
  try {
    const append = claimAppend(call, open, prepared, holder)
    const done = await recordClaim(call, append, prepared)
    if (done.ok) {
      call.meter.claim = append.projection
      const seq = await recordPre(call, open.attempt, prepared)
      if (seq === 'ended') await lease.end()
      return seq === 'ended' ? seq : { ...claimed, seq: seq ?? done.seq }
    }
    await lease.end()
    return done.because === 'full' ? { full: call.run } : refused(call, done)
  } catch (error) {
    await lease.end()
    throw error
  }
}

/** An attempt that goes on tells what was waived, and what was judged since, with that. */
async function recordClaim(call: BlockCall, append: Append, { pre }: PreparedAttempt): Promise<Appended> {
  const { world, resumed, lane = 0, meter } = call
  if (resumed === undefined) return world.runs.append(append)
  const step = { ...readOrdinal(append.ordinal), phase: nextAnswered(lane) }
  const done = await recordEvents(world, step, [...pre.events, ...append.events], append, meter.reserved)
  if (done.ok) settleMeter(meter)
  return done
}

const NO_LEASE: ProviderLease = { end: async () => undefined }

function isDispatched({ failure, items, child, taken }: PreparedAttempt): boolean {
  return [failure, items, child, taken].every((other) => other === undefined)
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

/**
 * Verdicts of the pre-gates, right after the claim: by who claimed, or by who takes over the claim of one that died in
 * between. Answers the seq of the last one; undefined = there is none.
 */
export async function recordPre(
  call: BlockCall,
  attempt: number,
  prepared: PreparedAttempt,
): Promise<number | 'ended' | undefined> {
  const { pre } = prepared
  if (!isRecordedLater(call, prepared)) return undefined
  const { world, epoch } = call
  const at = ordinal({ epoch, attempt, phase: PHASE.claimed + 9 })
  const time = new Date(world.clock.now()).toISOString()
  const final = { ...laneHead(call), ordinal: at, guard: { below: at }, at: time, ...openingOf(call, prepared) }
  const step = { epoch, attempt, phase: PHASE.claimed + 1 }
  const done = await recordEvents(world, step, pre.events, final, settleMeter(call.meter))
  return done.ok ? done.seq : refused(call, done)
}
