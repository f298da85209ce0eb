import { type GraphWork, GraphWorkSchema } from '../../shared/graph/graph-work.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { keepBodies } from './keep-bodies.ts'
import { withIndexLease } from './with-index-lease.ts'

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
