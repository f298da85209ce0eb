import { Fault } from '../../shared/errors.ts'
import { type Principal, principalName } from '../../shared/principal.ts'
import type { LeasePool } from '../../shared/runs/leases.ts'
import type { World } from '../../shared/world.ts'

/** A stream ends after this long, and its reader comes again: whoever holds places has to ask for them anew. */
export const STREAM_MS = 300_000
/** Longer than any stream is open: one whose function died gives its places back by then. */
const LEASE_MS = STREAM_MS + 30_000
/** When a refused reader may come again; streams of runs that end make room before. */
const RETRY_AFTER_MS = 15_000

type PlaceWorld = Pick<World, 'runs' | 'settings' | 'clock' | 'ids' | 'log'>

/** Places among the open streams of a caller and of its tenant. */
export interface StreamPlaces {
  /** Gives them back, once. */
  end(): Promise<void>
}

/**
 * Takes a place among the streams of the caller, then among those of the tenant: each stream keeps a function busy, or a
 * connection, for as long as it is open. Full: Fault LimitExceeded too_many_streams.
 */
export async function takeStreamPlaces(world: PlaceWorld, principal: Principal): Promise<StreamPlaces> {
  const { tenant } = principal
  const caller = principalName(principal)
  const { max_streams, max_streams_per_caller } = world.settings.safety
  const holder = `${world.ids.boot}/${Buffer.from(world.ids.random(9)).toString('base64url')}`
  const mine = { tenant, name: `streams/${caller}` }
  const all = { tenant, name: 'streams' }
  if (!(await takePlace(world, mine, holder, max_streams_per_caller))) {
    throw tooMany(`Caller "${caller}" has`, { caller, max_streams_per_caller })
  }
  if (await takePlace(world, all, holder, max_streams)) return placesOf(world, [mine, all], holder)
  await placesOf(world, [mine], holder).end()
  throw tooMany(`Tenant "${tenant}" has`, { tenant, max_streams })
}

/** Those whose time is over make room first. */
async function takePlace({ runs, clock }: PlaceWorld, pool: LeasePool, holder: string, cap: number): Promise<boolean> {
  const take = () => runs.takeLease(pool, holder, new Date(clock.now() + LEASE_MS).toISOString(), cap)
  if (await take()) return true
  const over = Object.entries(await runs.leases(pool)).filter(([, end]) => Date.parse(end) <= clock.now())
  for (const [one, end] of over) await runs.dropLease(pool, one, end)
  return over.length > 0 && take()
}

/** Not giving one back is no failure of the stream: it ends by itself. */
function placesOf({ runs, log }: PlaceWorld, pools: readonly LeasePool[], holder: string): StreamPlaces {
  return {
    async end() {
      for (const pool of pools) {
        await runs.dropLease(pool, holder).catch((error: unknown) => {
          log.error('a place of a stream could not be given back', { pool: pool.name, error: String(error) })
        })
      }
    },
  }
}

function tooMany(who: string, facts: Readonly<Record<string, string | number>>): Fault {
  const [name = '', cap] = Object.entries(facts).at(-1) ?? []
  const message = `Cannot open another stream of events: ${who} ${cap} open, as many as the safety policy allows (${name}). Close one, or read on with GET /api/dag/runs/{run_id}/replay?since=N.`
  return new Fault('LimitExceeded', 'too_many_streams', message, {
    facts: { ...facts, retry_after_ms: RETRY_AFTER_MS },
  })
}
