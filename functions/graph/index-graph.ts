import { Fault } from '../../shared/errors.ts'
import { type GraphWork, GraphWorkSchema } from '../../shared/graph/search-index.ts'
import type { LeasePool } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'

/** Work is begun for so long; the last round's snapshot is then still to be written and stored. */
const WORK_MS = 480_000
/** Between two rounds: writes come in numbers, and each round copies the whole index. */
const GATHER_MS = 2_000
const DAY_MS = 86_400_000
/** Days between two walks over the bodies: three fit into the shortest time an object lives. */
const BODIES_EACH_DAYS = 28

/**
 * Makes what was put searchable: round after round until nothing is left, by one at a time (others that are called
 * meanwhile have nothing to do). Called after each write, and each minute in case that call was lost. `keep`, called
 * each day, restarts the age of what the graph needs and object storage would remove. What a call has no time for is
 * the next minute's: AWS ends a function that calls itself after 16 calls, so how far the work is stands in the table.
 */
export const handler = functionHandler({
  name: 'index-graph',
  input: GraphWorkSchema,
  run: async ({ tenant, keep }, world) => {
    const until = world.clock.now() + WORK_MS
    if (keep !== undefined) {
      await beginKeeping(world, tenant, keep)
      return { kept: await keepBodies(world, tenant, until) }
    }
    const rounds = await indexTenant(world, tenant, until)
    const kept = await keepBodies(world, tenant, until)
    return kept === 0 ? { rounds } : { rounds, kept }
  },
})

async function indexTenant(world: World, tenant: string, until: number): Promise<number | 'busy'> {
  const rounds = await withLease(world, { tenant, name: 'index-graph' }, async (extend) => {
    for (let done = 1; ; done += 1) {
      const { outcome, more } = await world.indexing.publish(tenant, new Date(until).toISOString())
      if ((outcome === 'unchanged' && !more) || world.clock.now() >= until) return done
      await world.clock.delay(GATHER_MS)
      await extend()
    }
  })
  return rounds ?? 'busy'
}

/** Of what readers open, now; of the bodies by a walk, which begins where none is under way. */
async function beginKeeping({ indexing, clock }: World, tenant: string, { after }: Keep): Promise<void> {
  if (after === undefined) await indexing.keep(tenant)
  if (after === undefined && Math.floor(clock.now() / DAY_MS) % BODIES_EACH_DAYS !== 0) return
  if ((await indexing.walk(tenant)) === undefined) await indexing.noteWalk(tenant, { after })
}

type Keep = NonNullable<GraphWork['keep']>

/** Longer than a round takes. Two at once cost time and nothing else, so who crashed holds up no one for long. */
const LEASE_MS = 300_000

/** Does the work as the only one of this pool; undefined: somebody else is at it. */
async function withLease<T>(
  { runs, clock, ids }: Pick<World, 'runs' | 'clock' | 'ids'>,
  pool: LeasePool,
  work: (extend: () => Promise<void>) => Promise<T>,
): Promise<T | undefined> {
  const holder = `${ids.boot}/${Buffer.from(ids.random(9)).toString('base64url')}`
  const until = () => new Date(clock.now() + LEASE_MS).toISOString()
  const take = () => runs.takeLease(pool, holder, until(), 1)
  if (!(await take())) {
    const held = Object.entries(await runs.leases(pool))
    const over = held.filter(([, end]) => Date.parse(end) <= clock.now())
    for (const [one, end] of over) await runs.dropLease(pool, one, end)
    if (over.length === 0 || !(await take())) return undefined
  }
  try {
    return await work(() => runs.extendLeases(pool, [holder], until()))
  } finally {
    await runs.dropLease(pool, holder)
  }
}

/** Bodies read and stored at once. */
const PARALLEL = 8

/**
 * Goes on with a walk, where one is under way: stores the bodies of the entities again, so that they outlive the objects
 * of runs, whose age ends; what no entity names any more ends as those do. Past `until` (ms) the rest is for the next
 * call, and after a crash the page it was at.
 */
async function keepBodies(world: World, tenant: string, until: number): Promise<number> {
  const { graph, objects, indexing, clock } = world
  if (clock.now() >= until || (await indexing.walk(tenant)) === undefined) return 0
  const kept = await withLease(world, { tenant, name: 'keep-bodies' }, async (extend) => {
    let sum = 0
    for (let walk = await indexing.walk(tenant); walk !== undefined && clock.now() < until; await extend()) {
      const page = await graph.list(tenant, walk.after)
      const entities = await graph.entities(tenant, page.entity_ids)
      const refs = [...new Set(entities.flatMap(({ objectstore_ref }) => objectstore_ref ?? []))]
      for (let at = 0; at < refs.length; at += PARALLEL) {
        const part = refs.slice(at, at + PARALLEL).map((ref) => keep(objects, tenant, ref))
        sum += (await Promise.all(part)).filter(Boolean).length
      }
      walk = page.next === undefined ? undefined : { after: page.next }
      await indexing.noteWalk(tenant, walk)
    }
    return sum
  })
  return kept ?? 0
}

/** False: there is no such body any more. */
async function keep(objects: World['objects'], tenant: string, ref: string): Promise<boolean> {
  try {
    await objects.put(tenant, await objects.get(tenant, ref))
    return true
  } catch (cause) {
    if (cause instanceof Fault && cause.name !== 'Unavailable') return false
    throw cause
  }
}
