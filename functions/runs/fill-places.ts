import { earlier, OUTBOX_GRACE_MS } from '../../shared/runs/check-at.ts'
import type { QueuedRun } from '../../shared/runs/run-queue.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { placeUntil, runsPool } from '../../shared/runs/runs-pool.ts'
import type { World } from '../../shared/world.ts'

type FillWorld = Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>

/** Queued runs looked at a time. */
const PAGE = 20

/**
 * Gives free places to queued runs, oldest first, until there is none left; nothing while starts are on hold. Safe to
 * call at any time and by several at once: the lease is taken first, and HEAD says who released the run.
 */
export async function fillPlaces(world: FillWorld, tenant: string): Promise<number> {
  let released = 0
  for (;;) {
    const waiting = await world.runs.queued(tenant, PAGE)
    if (waiting.length === 0 || (await world.runs.startHold(tenant)) !== undefined) return released
    const held = await world.runs.leases(runsPool(tenant))
    // Who died between the lease and the release left the first of these; a place must not lie idle for them.
    const order = waiting.toSorted((a, b) => Number(b.run_id in held) - Number(a.run_id in held))
    for (const one of order) {
      if (!(await take(world, one))) return released
      if (await release(world, one)) released += 1
    }
  }
}

function take({ runs, clock, settings }: FillWorld, { tenant, run_id }: RunKey): Promise<boolean> {
  return runs.takeLease(runsPool(tenant), run_id, placeUntil(clock.now()), settings.safety.max_runs)
}

/** From here on the run owes its start; whoever released it before, or ended it, keeps what is recorded. */
async function release(world: FillWorld, queued: QueuedRun): Promise<boolean> {
  const { runs, clock, settings } = world
  const { at: _, ...run } = queued
  const meta = await runs.meta(run)
  const now = clock.now()
  const at = new Date(now).toISOString()
  const seconds = meta?.options.deadline_sec ?? settings.safety.max_run_sec
  const deadline_at = new Date(now + seconds * 1_000).toISOString()
  const check_at = earlier(deadline_at, new Date(now + OUTBOX_GRACE_MS).toISOString())
  const released = await runs.releaseQueued(run, { at, deadline_at, check_at })
  if (!released) await leaveUnneeded(world, run)
  await runs.dequeue(queued)
  if (released) await world.outbox.nudge(run)
  return released
}

/** The place taken for a run that has ended, or was never there; one that is active took it long ago. */
async function leaveUnneeded({ runs }: FillWorld, run: RunKey): Promise<void> {
  const head = await runs.head(run, [])
  if (head?.state !== 'running') await runs.dropLease(runsPool(run.tenant), run.run_id)
}
