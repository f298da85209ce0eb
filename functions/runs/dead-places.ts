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
  return (await judgePlaces(world, held.slice(0, LOOKED_AT))).dropped
}

/**
 * Which of these places belong to live runs. Drops those nobody holds any more: of a run that has ended (its release
 * was lost, or it took one after its end), and of one that never got a HEAD, once its lease is over (before that a start
 * is under way).
 */
export async function judgePlaces(
  world: PlaceWorld,
  held: readonly HeldPlace[],
): Promise<{ readonly live: readonly RunKey[]; readonly dropped: number }> {
  const live: RunKey[] = []
  let dropped = 0
  for (let i = 0; i < held.length; i += TOGETHER) {
    const judged = await Promise.all(held.slice(i, i + TOGETHER).map((place) => judge(world, place)))
    live.push(...judged.flatMap(({ run, verdict }) => (verdict === 'live' ? [run] : [])))
    dropped += judged.filter(({ verdict }) => verdict === 'dropped').length
  }
  return { live, dropped }
}

async function judge({ runs, clock }: PlaceWorld, { run, until }: HeldPlace) {
  const head = await runs.head(run, [])
  if (head?.state === 'running') return { run, verdict: 'live' }
  if (head === undefined && Date.parse(until) > clock.now()) return { run, verdict: 'starting' }
  // With its end where nothing is known: a start that took it again since keeps it.
  await runs.dropLease(runsPool(run.tenant), run.run_id, ...(head === undefined ? [until] : []))
  return { run, verdict: 'dropped' }
}
