import { Fault } from '../../shared/errors.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { placeUntil, runsPool } from '../../shared/runs/runs-pool.ts'
import type { World } from '../../shared/world.ts'
import { dropDeadPlaces } from './dead-places.ts'

type PlaceWorld = Pick<World, 'runs' | 'clock' | 'settings'>

/** When a refused start may find a place; nobody knows how long the runs before it take. */
const RETRY_AFTER_MS = 30_000

/**
 * Takes a place among the tenant's active runs, for a run that has no HEAD yet. Full: places nobody holds any more are
 * dropped, once. Answers the end of the lease; undefined = it has to wait, since all are taken or others wait already:
 * without `safety.queue` that is Fault LimitExceeded too_many_runs.
 */
export async function takePlace(world: PlaceWorld, run: RunKey): Promise<string | undefined> {
  const { max_runs, queue } = world.settings.safety
  if (queue && (await world.runs.queued(run.tenant, 1)).length > 0) return undefined
  const taken = await take(world, run)
  if (taken !== undefined) return taken
  const again = (await dropDeadPlaces(world, run.tenant)) > 0 ? await take(world, run) : undefined
  if (again !== undefined || queue) return again
  const active = Object.keys(await world.runs.leases(runsPool(run.tenant))).length
  const message = `Cannot start: ${active} runs are active, and the safety policy allows ${max_runs} at once (max_runs). Try again when one has ended, stop one with \`sluice run stop\`, or set safety.queue to let starts wait.`
  throw new Fault('LimitExceeded', 'too_many_runs', message, {
    facts: { active, max_runs, retry_after_ms: RETRY_AFTER_MS },
  })
}

async function take(world: PlaceWorld, { tenant, run_id }: RunKey): Promise<string | undefined> {
  const until = placeUntil(world.clock.now())
  const taken = await world.runs.takeLease(runsPool(tenant), run_id, until, world.settings.safety.max_runs)
  return taken ? until : undefined
}
