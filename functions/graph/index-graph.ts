import { Fault } from '../../shared/errors.ts'
import { type GraphWork, GraphWorkSchema } from '../../shared/graph/search-index.ts'
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
 * each day, restarts the age of what the graph needs and object storage would remove.
 */
export const handler = functionHandler({
  name: 'index-graph',
  input: GraphWorkSchema,
  run: async (work, world) => (work.keep === undefined ? indexTenant(work, world) : keepTenant(work, world)),
})

async function indexTenant({ tenant }: GraphWork, world: World): Promise<{ readonly rounds: number | 'busy' }> {
  const until = new Date(world.clock.now() + WORK_MS).toISOString()
  const worked = await withIndexLease(world, tenant, async (extend) => {
    let rounds = 0
    for (;;) {
      const { outcome, more } = await world.indexing.publish(tenant, until)
      rounds += 1
      if (outcome === 'unchanged' && !more) return { rounds, left: false }
      if (world.clock.now() >= Date.parse(until)) return { rounds, left: true }
      await world.clock.delay(GATHER_MS)
      await extend()
    }
  })
  if (worked === undefined) return { rounds: 'busy' }
  if (worked.left) await world.outbox.graphWork({ tenant })
  return { rounds: worked.rounds }
}

async function keepTenant({ tenant, keep }: GraphWork, world: World): Promise<{ readonly kept: number }> {
  const now = world.clock.now()
  if (keep?.after === undefined) await world.indexing.keep(tenant)
  if (keep?.after === undefined && Math.floor(now / DAY_MS) % BODIES_EACH_DAYS !== 0) return { kept: 0 }
  const { kept, next } = await keepBodies(world, tenant, { until: now + WORK_MS, after: keep?.after })
  if (next !== undefined) await world.outbox.graphWork({ tenant, keep: { after: next } })
  return { kept }
}

/** Longer than a round takes. Two at once cost time and nothing else, so who crashed holds up no one for long. */
const LEASE_MS = 300_000

/** Does the work as the only one of this tenant; undefined: somebody else is at it. */
async function withIndexLease<T>(
  { runs, clock, ids }: Pick<World, 'runs' | 'clock' | 'ids'>,
  tenant: string,
  work: (extend: () => Promise<void>) => Promise<T>,
): Promise<T | undefined> {
  const pool = { tenant, name: 'index-graph' }
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
 * Stores the bodies of the entities again, so that they outlive the objects of runs, whose age ends; what no entity
 * names any more ends as those do. A walk past `until` (ms) ends where the next one goes on.
 */
async function keepBodies(
  { graph, objects, clock }: Pick<World, 'graph' | 'objects' | 'clock'>,
  tenant: string,
  { until, after }: { readonly until: number; readonly after?: string | undefined },
): Promise<{ readonly kept: number; readonly next?: string }> {
  let next = after
  let kept = 0
  do {
    const page = await graph.list(tenant, next)
    const entities = await graph.entities(tenant, page.entity_ids)
    const refs = [...new Set(entities.flatMap(({ objectstore_ref }) => objectstore_ref ?? []))]
    for (let at = 0; at < refs.length; at += PARALLEL) {
      const part = refs.slice(at, at + PARALLEL).map((ref) => keep(objects, tenant, ref))
      kept += (await Promise.all(part)).filter(Boolean).length
    }
    next = page.next
  } while (next !== undefined && clock.now() < until)
  return { kept, ...(next === undefined ? {} : { next }) }
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
