import type { RunKey } from '../../shared/runs/run-store.ts'
import { runsPool } from '../../shared/runs/runs-pool.ts'
import type { World } from '../../shared/world.ts'

type PlaceWorld = Pick<World, 'runs' | 'clock'>

/** A place, whose it is, and the end of its lease. */
export interface HeldPlace {
  readonly run: RunKey
  readonly until: string
}

/** Places one refused start looks at: each is a read of a HEAD. */
const LOOKED_AT = 25
const TOGETHER = 10

/** Drops places of the tenant nobody holds any more, of those whose leases end first; answers how many. */
export async function dropDeadPlaces(world: PlaceWorld, tenant: string): Promise<number> {
  const held = Object.entries(await world.runs.leases(runsPool(tenant)))
    .map(([run_id, until]): HeldPlace => ({ run: { tenant, run_id }, until }))
    .sort((a, b) => (a.until < b.until ? -1 : 1))
  const kept = await keepLive(world, held.slice(0, LOOKED_AT))
  return Math.min(held.length, LOOKED_AT) - kept.length
}

/**
 * Drops the dead among these places and answers the others: of a run that has ended (its release was lost, or it took
 * one after its end), and of one that never got a HEAD, once its lease is over (before that a start is under way).
 */
export async function keepLive(world: PlaceWorld, held: readonly HeldPlace[]): Promise<readonly HeldPlace[]> {
  const live: HeldPlace[] = []
  for (let i = 0; i < held.length; i += TOGETHER) {
    const looked = held.slice(i, i + TOGETHER).map(async (place) => ((await isDead(world, place)) ? [] : [place]))
    live.push(...(await Promise.all(looked)).flat())
  }
  return live
}

async function isDead({ runs, clock }: PlaceWorld, { run, until }: HeldPlace): Promise<boolean> {
  const head = await runs.head(run, [])
  if (head?.state === 'running') return false
  if (head === undefined && Date.parse(until) > clock.now()) return false
  // With its end where nothing is known: a start that took it again since keeps it.
  await runs.dropLease(runsPool(run.tenant), run.run_id, ...(head === undefined ? [until] : []))
  return true
}
