import { MachineSignal } from '../../shared/errors.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { Append } from '../../shared/runs/run-store.ts'
import type { BlockCall } from './block-call.ts'
import type { Judged } from './judge-block.ts'
import type { OpenAttempt } from './open-attempt.ts'
import type { PreparedAttempt } from './prepare-attempt.ts'
import { recordEvents } from './record-events.ts'
import { LEASE_MS } from './watch-attempt.ts'

const SLOT_WAIT_MS = 15_000

/** A claimed attempt: nobody else may run it while its lease lives. */
export interface Claimed {
  readonly attempt: number
  readonly holder: string
  readonly seq: number
}

/**
 * Claims the attempt: block:started with holder and lease, if the lane is as it was read and fewer than max_parallel
 * blocks run. Full: waits for a slot where the place can wake it, else RetryBlock. `ended`: the run is over.
 */
export async function claimAttempt(
  call: BlockCall,
  open: OpenAttempt,
  prepared: PreparedAttempt,
): Promise<Claimed | 'ended'> {
  const { world, run } = call
  const holder = `${world.ids.boot}/${Buffer.from(world.ids.random(9)).toString('base64url')}`
  for (;;) {
    const done = await world.runs.append(claimAppend(call, open, prepared, holder))
    if (done.ok) {
      return { attempt: open.attempt, holder, seq: await recordPre(call, open.attempt, prepared.pre, done.seq) }
    }
    if (done.because === 'terminal') return 'ended'
    if (done.because !== 'full') throw new MachineSignal('RetryBlock', { s: 0 })
    if (!(await world.waker.slot(run, SLOT_WAIT_MS))) throw new MachineSignal('RetryBlock', { s: slotWait(call) })
  }
}

function claimAppend(call: BlockCall, open: OpenAttempt, prepared: PreparedAttempt, holder: string): Append {
  const { world, run, block, meta } = call
  const { attempt, failure } = open
  const now = world.clock.now()
  const lease_until = new Date(now + LEASE_MS).toISOString()
  const at = ordinal({ epoch: 0, attempt, phase: PHASE.claimed })
  const data = { inputs_hash: prepared.hash, context_version: prepared.context_version, holder, lease_until }
  const started: NewEvent = { type: 'block:started', block_id: block.id, attempt, data }
  const before = failure === undefined ? {} : { failure }
  return {
    run,
    lane: String(block.index),
    ordinal: at,
    guard: { is: open.lane },
    at: new Date(now).toISOString(),
    events: needsReady(call) ? [{ type: 'block:ready', block_id: block.id, data: {} }, started] : [started],
    start: { block: block.index, limit: meta.options.max_parallel },
    projection: { block: block.index, ordinal: at, attempt, state: 'running', holder, lease_until, ...before },
  }
}

/** block:ready comes once an epoch: with the approval's request if there is one, else with the first start. */
function needsReady({ block, lane }: BlockCall): boolean {
  return lane === undefined && block.approval === undefined
}

/** 1 to 15 seconds, spread so that waiting blocks do not come back together. */
function slotWait({ world }: BlockCall): number {
  return 1 + ((world.ids.random(1)[0] ?? 0) % 15)
}

async function recordPre(call: BlockCall, attempt: number, pre: Judged, seq: number): Promise<number> {
  if (pre.events.length === 0) return seq
  const { world, run, block } = call
  const at = ordinal({ epoch: 0, attempt, phase: PHASE.claimed + 9 })
  const final = { run, lane: String(block.index), ordinal: at, guard: { below: at } }
  const time = new Date(world.clock.now()).toISOString()
  const done = await recordEvents(world, { attempt, phase: PHASE.claimed + 1 }, pre.events, { ...final, at: time })
  return done.ok ? done.seq : seq
}
