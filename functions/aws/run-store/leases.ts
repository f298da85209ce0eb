import { type LeasePool, type Leases, MAX_LEASES } from '../../../shared/runs/run-store.ts'
import { as, type Item } from './item-encoding.ts'
import { ifAbsent, itemBusyFault, type RunTable } from './table.ts'

/**
 * LEASES: a map of holders and the ends of their leases, one item a pool. Every write counts `v` up, so that the many of
 * an extension, which no expression could name, are written as one map over the map that was read.
 */
export function leasesOn(table: RunTable): Leases {
  return {
    async takeLease(pool, holder, until, cap) {
      for (let tries = 0; tries < LEASE_TRIES; tries += 1) {
        const taken = await tryToTake(table, { pool, holder, until, cap: Math.min(cap, MAX_LEASES) })
        if (taken !== undefined) return taken
        await table.pause(tries)
      }
      throw itemBusyFault(`take a lease of "${pool.name}"`, LEASE_TRIES)
    },
    async leases(pool) {
      return readLeases(await table.get(poolKey(pool)))
    },
    async extendLeases(pool, holders, until) {
      for (let tries = 0; tries < LEASE_TRIES; tries += 1) {
        const item = await table.get(poolKey(pool))
        const now = readLeases(item)
        const moved = holders.filter((holder) => (now[holder] ?? until) < until)
        if (item === undefined || moved.length === 0) return
        const next = { ...now, ...Object.fromEntries(moved.map((holder) => [holder, until])) }
        if (await replace(table, pool, item, next)) return
        await table.pause(tries)
      }
      throw itemBusyFault(`extend leases of "${pool.name}"`, LEASE_TRIES)
    },
    async dropLease(pool, holder, until) {
      await table.update(poolKey(pool), ({ path, value }) => {
        const lease = path('leases', holder)
        return {
          update: `REMOVE ${lease} ADD ${path('v')} ${value(as.number(1))}`,
          condition: until === undefined ? `attribute_exists(${lease})` : `${lease} = ${value(as.text(until))}`,
        }
      })
    },
  }
}

const LEASE_TRIES = 50

interface Taking {
  readonly pool: LeasePool
  readonly holder: string
  readonly until: string
  readonly cap: number
}

/** undefined: the pool's item was just made by somebody else; try again. */
async function tryToTake(table: RunTable, { pool, holder, until, cap }: Taking): Promise<boolean | undefined> {
  const taken = await table.update(poolKey(pool), ({ path, value }) => {
    const [all, mine] = [path('leases'), path('leases', holder)]
    return {
      update: `SET ${mine} = ${value(as.text(until))} ADD ${path('v')} ${value(as.number(1))}`,
      condition: `attribute_exists(${all}) AND (attribute_exists(${mine}) OR size(${all}) < ${value(as.number(cap))})`,
    }
  })
  if (taken.ok) return true
  const item = taken.item ?? (await table.get(poolKey(pool)))
  if (item !== undefined) return isFull(item, holder, cap) ? false : undefined
  if (cap < 1) return false
  const first = { ...poolKey(pool), leases: as.map({ [holder]: as.text(until) }), v: as.number(1) }
  return (await table.put(first, ifAbsent)).ok ? true : undefined
}

function isFull(item: Item, holder: string, cap: number): boolean {
  const held = Object.keys(readLeases(item))
  return held.length >= cap && !held.includes(holder)
}

/** Whether nobody else wrote since the item was read. */
async function replace(
  table: RunTable,
  pool: LeasePool,
  seen: Item,
  leases: Readonly<Record<string, string>>,
): Promise<boolean> {
  const ends = Object.fromEntries(Object.entries(leases).map(([holder, until]) => [holder, as.text(until)]))
  const replaced = await table.update(poolKey(pool), ({ path, value }) => ({
    update: `SET ${path('leases')} = ${value(as.map(ends))} ADD ${path('v')} ${value(as.number(1))}`,
    condition: `${path('v')} = ${value(seen.v ?? as.number(0))}`,
  }))
  return replaced.ok
}

function poolKey({ tenant, name }: LeasePool): Item {
  return { pk: as.text(`T#${tenant}`), sk: as.text(name === 'runs' ? 'LEASES' : `LEASES#${name}`) }
}

function readLeases(item: Item | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(item?.leases?.M ?? {}).map(([holder, { S = '' }]) => [holder, S]))
}
