import { OUTBOX_GRACE_MS } from '../../shared/runs/check-at.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { Appended, OutboxEntry, RunKey, RunState } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

interface Ending {
  readonly state: Exclude<RunState, 'running'>
  readonly code: string
  readonly reason: string
  readonly block_id?: string
  /** True when the execution still runs and must be stopped (stop, deadline, fail_fast). */
  readonly stop: boolean
}

const TERMINAL = { completed: PHASE.completed, failed: PHASE.failed, cancelled: PHASE.cancelled } as const

/**
 * The one path to a terminal run: ONE update writes the state, its event and the stop it owes; dispatches in flight
 * see the STOP item, and the outbox stops the execution. A run that has ended already refuses.
 */
export async function endRun(
  world: Pick<World, 'runs' | 'outbox' | 'clock'>,
  run: RunKey,
  ending: Ending,
): Promise<Appended> {
  const { state, code, reason, block_id, stop } = ending
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const data = block_id === undefined ? { code, reason } : { code, reason, block_id }
  const event: NewEvent = { type: `run:${state}`, data }
  const outbox: OutboxEntry[] = stop ? [{ id: 'stop', at, kind: 'stop_execution', cause: code }] : []
  const done = await world.runs.append({
    run,
    lane: 'run',
    ordinal: ordinal({ epoch: 0, attempt: 0, phase: TERMINAL[state] }),
    guard: { below: ordinal({ epoch: 0, attempt: 0, phase: PHASE.completed }) },
    at,
    events: [event],
    state,
    outbox,
    ...(stop ? { check_at: new Date(now + OUTBOX_GRACE_MS).toISOString() } : {}),
  })
  if (done.ok && stop) {
    // The nudge first: should the mark not be written, the stopped execution still aborts what is in flight.
    await world.outbox.nudge(run)
    await world.runs.putStop(run)
  }
  return done
}
