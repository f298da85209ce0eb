import type { RunKey } from '../../shared/runs/run-store.ts'
import { runsPool } from '../../shared/runs/runs-pool.ts'
import type { World } from '../../shared/world.ts'
import { fillPlaces } from './fill-places.ts'

type LeaveWorld = Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>

/** An ended run gives back its place among the active ones, or the one in the queue; who waits longest takes it. */
export async function leavePlace(world: LeaveWorld, run: RunKey): Promise<void> {
  const { runs } = world
  await runs.dropLease(runsPool(run.tenant), run.run_id)
  const [head, meta] = await Promise.all([runs.head(run, []), runs.meta(run)])
  if (head?.queued === true && meta !== undefined) await runs.dequeue({ ...run, at: meta.created_at })
  await fillPlaces(world, run.tenant)
}
