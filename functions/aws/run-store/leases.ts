import { type LeasePool, type Leases, MAX_LEASES } from '../../../shared/runs/run-store.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { as, type Item } from './item-encoding.ts'
import { ifAbsent, itemBusyFault, type RunTable } from './table.ts'

/** How long a pool that was one item stays so: functions of before, which know no other, are gone by then. */
const ONE_ITEM_MS = 900_000

/** How long who takes a lease away from home may be under way, and so how long what says so is kept at the least. */
const STRAYING_MS = 60_000

const LEASE_TRIES = 50

/** So many tries follow without a pause: the first of a pool opens it, or raises it to another cap, and goes on itself. */
const AT_ONCE = 2

/**
 * A pool of leases is maps of holders and ends in shards of 32 (docs/adr/0086). Shard i has room for the leases numbered
 * from 32 i on, so the rooms of all of them are the cap, each is guarded by one condition, and a larger cap only adds to them.
 * Shard 0 is the item LEASES, the only one of a small pool; of a large one it also says, as `most`, for which cap no shard
 * holds more than its room. Each holder has a home, a shard by its name; `strays_at` in shard 0 says that some may lie
 * elsewhere, since theirs was full or the cap another: then all are read. Every write counts `v` up, so that what no expression could name is written as one map over
 * the map that was read.
 */
export function leasesOn(table: RunTable): Leases {
  return {
    async takeLease(pool, holder, until, cap) {
      const taking = { pool, holder, until, cap: Math.min(cap, MAX_LEASES) }
      for (let tries = 0; tries < LEASE_TRIES; tries += 1) {
        const taken = await (taking.cap > table.leases_an_item ? takeOfMany(table, taking) : takeOfFew(table, taking))
        if (taken !== undefined) return taken
        if (tries >= AT_ONCE) await table.pause(tries)
      }
      throw itemBusyFault(`take a lease of "${pool.name}"`, LEASE_TRIES)
    },
    leases: async (pool) => leasesIn(await readShards(table, pool)),
    async extendLeases(pool, holders, until) {
      for (let tries = 0; tries < LEASE_TRIES; tries += 1) {
        if (await extend(table, pool, { holders: new Set(holders), until })) return
        await table.pause(tries)
      }
      throw itemBusyFault(`extend leases of "${pool.name}"`, LEASE_TRIES)
    },
    async dropLease(pool, holder, until) {
      for (const { index } of await shardsOf(table, pool, holder)) {
        await table.update(shardKey(pool, index), ({ path, value }) => {
          const lease = path('leases', holder)
          return {
            update: `REMOVE ${lease} ADD ${path('v')} ${value(as.number(1))}`,
            condition: until === undefined ? `attribute_exists(${lease})` : `${lease} <= ${value(as.text(until))}`,
          }
        })
      }
    },
  }
}

interface Taking {
  readonly pool: LeasePool
  readonly holder: string
  readonly until: string
  readonly cap: number
}

interface Shard {
  readonly index: number
  readonly item: Item
  readonly leases: Readonly<Record<string, string>>
}

/** One blind write of shard 0. undefined, here and below: somebody else wrote in between; try again. */
async function takeOfFew(table: RunTable, taking: Taking): Promise<boolean | undefined> {
  const { cap } = taking
  const taken = await takeIn(table, taking, 0, cap)
  if (taken.ok) return true
  if (taken.item === undefined) return cap < 1 ? false : putFirst(table, taking, 0)
  if (mostOf(taken.item) > cap) return takeSettled(table, taking)
  return isFull(readShard(0, taken.item), taking.holder, cap) ? false : undefined
}

/** Reads before it writes: what is refused costs write units too. */
async function takeOfMany(table: RunTable, taking: Taking): Promise<boolean | undefined> {
  const { pool, holder, cap } = taking
  const own = homeOf(table, holder, cap)
  const [zero, home] = await Promise.all([getShard(table, pool, 0), own === 0 ? undefined : getShard(table, pool, own)])
  if (zero === undefined) return openPool(table, taking)
  const { most } = zero.item
  if (most === undefined) return takeOfOneItem(table, taking, zero)
  if (mostOf(zero.item) < cap) return raise(table, pool, { from: most, to: cap })
  if (mostOf(zero.item) > cap) return takeSettled(table, taking)
  const mine = own === 0 ? zero : home
  const isHome =
    zero.item.strays_at === undefined && (mine === undefined || !isFull(mine, holder, roomOf(table, own, cap)))
  return isHome ? takeThere(table, taking, own) : takeAnywhere(table, taking)
}

async function takeThere(table: RunTable, taking: Taking, index: number): Promise<boolean | undefined> {
  const taken = await takeIn(table, taking, index, roomOf(table, index, taking.cap))
  if (taken.ok) return true
  return taken.item === undefined ? putFirst(table, taking, index) : undefined
}

/** Where it has a lease already, else at home, else in the next shard that has room. */
async function takeAnywhere(table: RunTable, taking: Taking): Promise<boolean | undefined> {
  const { pool, holder, cap } = taking
  const shards = await readShards(table, pool)
  const held = shards.find(({ leases }) => Object.hasOwn(leases, holder))
  if (held !== undefined) return takeThere(table, taking, held.index)
  const sizes = new Map(shards.map(({ index, leases }) => [index, Object.keys(leases).length]))
  const count = shardCount(table, cap)
  const own = homeOf(table, holder, cap)
  const order = Array.from({ length: count }, (_, step) => (own + step) % count)
  const free = order.find((index) => (sizes.get(index) ?? 0) < roomOf(table, index, cap))
  if (free === undefined) return false
  if (free !== own) await sayStray(table, pool, shards[0])
  return takeThere(table, taking, free)
}

/**
 * Before one lies elsewhere; anew now and then, so that nobody who read all shards meanwhile takes it for old. false: it was
 * said just now.
 */
async function sayStray(table: RunTable, pool: LeasePool, zero: Shard | undefined): Promise<boolean> {
  if (Number(zero?.item.strays_at?.N ?? 0) > table.now() - STRAYING_MS / 2) return false
  await table.update(shardKey(pool, 0), ({ path, value }) => ({
    update: `SET ${path('strays_at')} = ${value(as.number(Math.floor(table.now())))} ADD ${path('v')} ${value(as.number(1))}`,
    condition: `attribute_exists(${path('most')})`,
  }))
  return true
}

function takeIn(table: RunTable, { pool, holder, until, cap }: Taking, index: number, room: number) {
  return table
    .update(shardKey(pool, index), ({ path, value }) => {
      const [all, mine] = [path('leases'), path('leases', holder)]
      const most = path('most')
      // Only shard 0 has it. Of a pool that was for more, somebody may lie in a shard this cap has none of.
      const settled = `(attribute_not_exists(${most}) OR ${most} <= ${value(as.number(cap))})`
      const fits = `size(${all}) < ${value(as.number(room))} AND ${settled}`
      return {
        update: `SET ${mine} = ${value(as.text(until))} ADD ${path('v')} ${value(as.number(1))}`,
        condition: `attribute_exists(${all}) AND (attribute_exists(${mine}) OR (${fits}))`,
      }
    })
    .then(async (taken) => {
      if (taken.ok || taken.item !== undefined) return taken
      return { ...taken, item: await table.get(shardKey(pool, index)) }
    })
}

async function putFirst(table: RunTable, { pool, holder, until }: Taking, index: number): Promise<true | undefined> {
  const first = { ...shardKey(pool, index), leases: as.map({ [holder]: as.text(until) }), v: as.number(1) }
  return (await table.put(first, ifAbsent)).ok ? true : undefined
}

/** Of a pool nobody has asked for, shard 0 comes before the others. */
async function openPool(table: RunTable, { pool, cap }: Taking): Promise<undefined> {
  await table.put({ ...shardKey(pool, 0), leases: as.map({}), most: as.number(cap), v: as.number(1) }, ifAbsent)
}

/**
 * A large pool that was one item: of an earlier version, or of a smaller cap. It stays one for a quarter of an hour, so
 * that functions of before, which may still be at work while a stage is deployed, count what these take and the reverse.
 */
async function takeOfOneItem(table: RunTable, taking: Taking, zero: Shard): Promise<boolean | undefined> {
  const { pool, holder, cap } = taking
  const until = zero.item.one_until?.N
  if (until === undefined) {
    await table.update(shardKey(pool, 0), ({ path, value }) => ({
      update: `SET ${path('one_until')} = ${value(as.number(Math.floor(table.now()) + ONE_ITEM_MS))}`,
      condition: `attribute_exists(${path('leases')}) AND attribute_not_exists(${path('one_until')})`,
    }))
  } else if (Number(until) <= table.now()) {
    return takeSettled(table, taking)
  }
  const taken = await takeIn(table, taking, 0, cap)
  if (taken.ok) return true
  return taken.item !== undefined && isFull(readShard(0, taken.item), holder, cap) ? false : undefined
}

/** A larger cap adds room and takes none: no shard holds more than its own. But homes are others. */
async function raise(
  table: RunTable,
  pool: LeasePool,
  { from, to }: { readonly from: Item[string]; readonly to: number },
): Promise<undefined> {
  await table.update(shardKey(pool, 0), ({ path, value }) => ({
    update: `SET ${path('most')} = ${value(as.number(to))}, ${path('strays_at')} = ${value(as.number(Math.floor(table.now())))} ADD ${path('v')} ${value(as.number(1))}`,
    condition: `${path('most')} = ${value(from)}`,
  }))
}

/**
 * Where a smaller cap leaves leases without room, they are moved first, and before that it is said that some lie elsewhere;
 * while some have none, the pool is over full.
 */
async function takeSettled(table: RunTable, taking: Taking): Promise<boolean | undefined> {
  const { pool, holder, cap } = taking
  const shards = await readShards(table, pool)
  const wanted = settledShards(table, shards, cap)
  const [zero] = shards
  if (wanted !== undefined && zero?.item.most !== undefined && (await sayStray(table, pool, zero))) return undefined
  if (wanted !== undefined) return settle(table, pool, { shards, wanted, cap })
  const held = shards.find(({ leases }) => Object.hasOwn(leases, holder))
  return held === undefined ? false : takeThere(table, taking, held.index)
}

interface Settling {
  readonly shards: readonly Shard[]
  readonly wanted: ReadonlyMap<number, Shard['leases']>
  readonly cap: number
}

/**
 * Who gets leases is written before who gives them, and shard 0 last, with what holds then: one that dies in between leaves
 * some leases twice, and none nowhere.
 */
async function settle(table: RunTable, pool: LeasePool, { shards, wanted, cap }: Settling): Promise<undefined> {
  const items = new Map(shards.map(({ index, item }) => [index, item]))
  const there = new Map(shards.map(({ index, leases }) => [index, leases]))
  const write = async (index: number, leases: Shard['leases'], most?: number) => {
    const written = await replace(table, pool, { index, seen: items.get(index), leases, most })
    if (written !== undefined) items.set(index, written)
    there.set(index, leases)
    return written !== undefined
  }
  for (const [index, leases] of wanted) {
    const both = { ...there.get(index), ...leases }
    if (!isSame(both, there.get(index)) && !(await write(index, both))) return
  }
  for (const [index, leases] of wanted) {
    if (index !== 0 && !isSame(leases, there.get(index)) && !(await write(index, leases))) return
  }
  await write(0, wanted.get(0) ?? {}, cap)
}

/** Every lease once, in a shard that has room for it; undefined when there are more than the cap. */
function settledShards(table: Rooms, shards: readonly Shard[], cap: number): Settling['wanted'] | undefined {
  const ends = leasesIn(shards)
  const left = new Map(Object.entries(ends))
  const wanted = new Map<number, Record<string, string>>()
  const place = (index: number, holders: readonly string[]) => {
    const leases = wanted.get(index) ?? {}
    const free = roomOf(table, index, cap) - Object.keys(leases).length
    for (const holder of holders.filter((one) => left.has(one)).slice(0, free)) {
      leases[holder] = left.get(holder) ?? ''
      left.delete(holder)
    }
    if (Object.keys(leases).length > 0 || holders.length > 0) wanted.set(index, leases)
  }
  for (const { index, leases } of shards) place(index, Object.keys(leases))
  for (let index = 0; index < shardCount(table, cap); index += 1) place(index, [...left.keys()])
  return left.size === 0 ? wanted : undefined
}

function isSame(a: Shard['leases'], b: Shard['leases'] = {}): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

/** true = nothing is left to do. Of a holder that stands in two shards, since two took for it at once, one goes. */
async function extend(
  table: RunTable,
  pool: LeasePool,
  { holders, until }: { readonly holders: ReadonlySet<string>; readonly until: string },
): Promise<boolean> {
  const shards = await readShards(table, pool)
  const seen = new Set<string>()
  let done = true
  for (const { index, item, leases } of shards) {
    const kept = Object.entries(leases).filter(([holder]) => !seen.has(holder))
    for (const [holder] of kept) seen.add(holder)
    const next = Object.fromEntries(
      kept.map(([holder, end]) => [holder, holders.has(holder) && end < until ? until : end]),
    )
    if (!isSame(leases, next))
      done = (await replace(table, pool, { index, seen: item, leases: next })) !== undefined && done
  }
  await forgetStrays(table, pool, shards)
  return done
}

/** When all are at home, and nobody who would have said so can still be under way. */
async function forgetStrays(table: RunTable, pool: LeasePool, shards: readonly Shard[]): Promise<void> {
  const { strays_at, most } = shards[0]?.item ?? {}
  if (strays_at === undefined || most === undefined || Number(strays_at.N) > table.now() - STRAYING_MS) return
  const isHome = (holder: string, index: number) => homeOf(table, holder, Number(most.N)) === index
  if (!shards.every(({ index, leases }) => Object.keys(leases).every((holder) => isHome(holder, index)))) return
  await table.update(shardKey(pool, 0), ({ path, value }) => ({
    update: `REMOVE ${path('strays_at')} ADD ${path('v')} ${value(as.number(1))}`,
    condition: `${path('strays_at')} = ${value(strays_at)} AND ${path('most')} = ${value(most)}`,
  }))
}

interface Replacing {
  readonly index: number
  readonly seen: Item | undefined
  readonly leases: Shard['leases']
  /** Of shard 0: no shard holds more than its room under this cap, but what was moved, or has another home now, is a stray. */
  readonly most?: number | undefined
}

/** The item as it is now; undefined where somebody else wrote since it was read. */
async function replace(
  table: RunTable,
  pool: LeasePool,
  { index, seen, leases, most }: Replacing,
): Promise<Item | undefined> {
  const key = shardKey(pool, index)
  const ends = as.map(Object.fromEntries(Object.entries(leases).map(([holder, until]) => [holder, as.text(until)])))
  if (seen === undefined) {
    const put = await table.put({ ...key, leases: ends, v: as.number(1) }, ifAbsent)
    return put.ok ? put.item : undefined
  }
  const replaced = await table.update(key, ({ path, value }) => {
    const settled =
      most === undefined
        ? ''
        : `, ${path('most')} = ${value(as.number(most))}, ${path('strays_at')} = ${value(as.number(Math.floor(table.now())))} REMOVE ${path('one_until')}`
    return {
      update: `SET ${path('leases')} = ${value(ends)}${settled} ADD ${path('v')} ${value(as.number(1))}`,
      condition: `${path('v')} = ${value(seen.v ?? as.number(0))}`,
    }
  })
  return replaced.ok ? replaced.item : undefined
}

/** Shards that have a lease of the holder: as a rule its home. */
async function shardsOf(table: RunTable, pool: LeasePool, holder: string): Promise<readonly Shard[]> {
  const zero = await getShard(table, pool, 0)
  const hasIt = (shard: Shard | undefined): shard is Shard => shard !== undefined && Object.hasOwn(shard.leases, holder)
  if (zero === undefined || isOneItem(zero)) return [zero].filter(hasIt)
  if (zero.item.most === undefined || zero.item.strays_at !== undefined) {
    return (await readShards(table, pool)).filter(hasIt)
  }
  const own = homeOf(table, holder, mostOf(zero.item))
  return [own === 0 ? zero : await getShard(table, pool, own)].filter(hasIt)
}

async function readShards(table: RunTable, pool: LeasePool): Promise<readonly Shard[]> {
  const zero = await getShard(table, pool, 0)
  if (zero === undefined) return []
  if (isOneItem(zero)) return [zero]
  const others = await table.all({ pk: partition(pool), sk: as.text('') })
  return [zero, ...others.map((item) => readShard(Number(item.sk?.S), item))]
}

/** Of one that is to become several, whoever began that may have died in the middle. */
function isOneItem({ item }: Shard): boolean {
  return item.most === undefined && item.one_until === undefined
}

async function getShard(table: RunTable, pool: LeasePool, index: number): Promise<Shard | undefined> {
  const item = await table.get(shardKey(pool, index))
  return item === undefined ? undefined : readShard(index, item)
}

function readShard(index: number, item: Item): Shard {
  const entries = Object.entries(item.leases?.M ?? {}).map(([holder, { S = '' }]) => [holder, S])
  return { index, item, leases: Object.fromEntries(entries) }
}

/** Of a lease that stands twice the later end. */
function leasesIn(shards: readonly Shard[]): Readonly<Record<string, string>> {
  const all: Record<string, string> = {}
  for (const { leases } of shards) {
    for (const [holder, until] of Object.entries(leases)) {
      if (!Object.hasOwn(all, holder) || (all[holder] ?? '') < until) all[holder] = until
    }
  }
  return all
}

type Rooms = Pick<RunTable, 'leases_an_item'>

function shardCount({ leases_an_item: size }: Rooms, cap: number): number {
  return Math.max(1, Math.ceil(cap / size))
}

/** The leases numbered from 32 i on. */
function roomOf({ leases_an_item: size }: Rooms, index: number, cap: number): number {
  return Math.min(size, Math.max(0, cap - index * size))
}

/** The shard a holder looks for room in first: each is that of as many as it has room for. */
function homeOf({ leases_an_item: size }: Rooms, holder: string, cap: number): number {
  return Math.floor((Number.parseInt(sha256(holder).slice(0, 8), 16) % cap) / size)
}

function mostOf(item: Item): number {
  return Number(item.most?.N ?? 0)
}

function isFull({ leases }: Shard, holder: string, room: number): boolean {
  return !Object.hasOwn(leases, holder) && Object.keys(leases).length >= room
}

function partition({ tenant, name }: LeasePool) {
  return as.text(`T#${tenant}#LEASES#${name}`)
}

/** Shard 0 lies where the pool lay when it was one item. */
function shardKey(pool: LeasePool, index: number): Item {
  const { tenant, name } = pool
  if (index === 0) return { pk: as.text(`T#${tenant}`), sk: as.text(name === 'runs' ? 'LEASES' : `LEASES#${name}`) }
  return { pk: partition(pool), sk: as.text(String(index).padStart(3, '0')) }
}
