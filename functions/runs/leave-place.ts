import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import { runsPool } from '../../shared/runs/runs-pool.ts'
import type { World } from '../../shared/world.ts'
import { fillPlaces } from './fill-places.ts'
import { settleSuccessor } from './settle-successor.ts'

type LeaveWorld = Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>

/**
 * An ended run gives back its place among the active ones, or the one in the queue; who waits longest takes it. The run
 * that was made to come after it stands in the queue from now on.
 */
export async function leavePlace(world: LeaveWorld, run: RunKey): Promise<void> {
  const { runs } = world
  await runs.dropLease(runsPool(run.tenant), run.run_id)
  const [head, meta] = await Promise.all([runs.head(run, []), runs.meta(run)])
  if (head?.queued === true && meta !== undefined) await runs.dequeue({ ...run, at: meta.created_at })
  const next = head !== undefined && NAMING.has(head.state) ? await nextRun(world, run, head.seq) : undefined
  if (next !== undefined) await settleSuccessor(world, next)
  await fillPlaces(world, run.tenant)
}

/** Ends that may name a run. */
const NAMING: ReadonlySet<string> = new Set(['iterated', 'partial'])

/** The end of a run is its last event. */
async function nextRun({ runs }: LeaveWorld, run: RunKey, seq: number): Promise<Meta | undefined> {
  const [end] = await runs.events(run, seq - 1, 1)
  const run_id = end?.type === 'run:iterated' || end?.type === 'run:partial' ? end.data.next_run : undefined
  return run_id === undefined ? undefined : runs.meta({ tenant: run.tenant, run_id })
}
