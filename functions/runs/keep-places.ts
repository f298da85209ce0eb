import type { RunKey } from '../../shared/runs/run-store.ts'
import { placeUntil, runsPool } from '../../shared/runs/runs-pool.ts'
import type { World } from '../../shared/world.ts'
import { judgePlaces } from './dead-places.ts'

type PlaceWorld = Pick<World, 'runs' | 'clock'>

/** A lease is looked at when less than this is left of its 15 minutes: each is, every five, by who sweeps each minute. */
const LEFT_MS = 600_000

/** Extends the places of live runs, in one write, and drops those nobody holds any more; answers who had one. */
export async function keepPlaces(world: PlaceWorld, tenant: string): Promise<ReadonlySet<string>> {
  const { runs, clock } = world
  const pool = runsPool(tenant)
  const leases = Object.entries(await runs.leases(pool))
  const soon = new Date(clock.now() + LEFT_MS).toISOString()
  const due = leases.filter(([, until]) => until < soon).map(([run_id, until]) => ({ run: { tenant, run_id }, until }))
  const { live } = await judgePlaces(world, due)
  const holders = live.map(({ run_id }) => run_id)
  if (holders.length > 0) await runs.extendLeases(pool, holders, placeUntil(clock.now()))
  return new Set(leases.map(([run_id]) => run_id))
}

/**
 * A live run of a caller has a place, whatever happened to it: two starts of one key, of which the one that failed gave
 * back what the other had taken, a HEAD that was written after its writer had given up, a run of an earlier version.
 * While all are taken it goes on without: nobody else is let in then either, and the next look gives it one.
 */
export async function givePlace(world: PlaceWorld & Pick<World, 'settings'>, run: RunKey): Promise<void> {
  const { runs, clock, settings } = world
  const pool = runsPool(run.tenant)
  const meta = await runs.meta(run)
  if (meta === undefined || meta.parent !== undefined) return
  await runs.takeLease(pool, run.run_id, placeUntil(clock.now()), settings.safety.max_runs)
  if ((await runs.head(run, []))?.state !== 'running') await runs.dropLease(pool, run.run_id)
}
