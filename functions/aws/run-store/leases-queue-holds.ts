import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import {
  type LeasePool,
  type Leases,
  MAX_LEASES,
  type QueuedRun,
  type RunQueue,
  type StartHolds,
  type TurnName,
  type Turns,
} from '../../../shared/runs/run-store.ts'
import { sha256 } from '../../../shared/text/canonical.ts'
import { headKey } from './head.ts'
import { as, from, type Item } from './item-encoding.ts'
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

/** TURN: who has it and until when. Forgotten a day after it was taken last. */
export function turnsOn(table: RunTable): Turns {
  return {
    async takeTurn(of, by, now, until) {
      const taken = await table.update(turnKey(of), ({ path, value }) => {
        const [mine, end] = [value(as.text(by)), value(as.text(until))]
        const ttl = value(as.number(Math.floor(Date.parse(until) / 1_000) + DAY_SEC))
        return {
          update: `SET ${path('by')} = ${mine}, ${path('until')} = ${end}, ${path('ttl')} = ${ttl}`,
          condition: `attribute_not_exists(${path('by')}) OR ${path('by')} = ${mine} OR ${path('until')} <= ${value(as.text(now))}`,
        }
      })
      return taken.ok
    },
    async endTurn(of, by) {
      await table.update(turnKey(of), ({ path, value }) => ({
        update: `REMOVE ${path('by')}, ${path('until')}`,
        condition: `${path('by')} = ${value(as.text(by))}`,
      }))
    },
  }
}

const DAY_SEC = 86_400

function turnKey({ tenant, name }: TurnName): Item {
  return { pk: as.text(`T#${tenant}#TURN#${sha256(name)}`), sk: as.text('TURN') }
}

/**
 * One item a run that waits, by rank, in a partition of their own: the only items anybody may delete (infra/aws). And
 * the update of HEAD that lets a run go.
 */
export function runQueueOn(table: RunTable): RunQueue {
  return {
    async enqueue(queued) {
      await table.put({ ...queuedRunKey(queued), at: as.text(queued.at), run_id: as.text(queued.run_id) })
    },
    async queued(tenant, limit) {
      const items = await table.all(queueKey(tenant, ''), limit)
      return items.map((item) => ({ tenant, run_id: from.text(item, 'run_id'), at: from.text(item, 'at') }))
    },
    dequeue: (queued) => table.remove(queuedRunKey(queued)),
    async releaseQueued(run, { at, deadline_at, check_at }) {
      const nonce = table.nonce()
      const released = await table.update(headKey(run), ({ path, value }) => {
        const start = as.json({ id: 'start', at, kind: 'start_run' })
        const set = [
          `${path('outbox', 'start')} = ${value(start)}`,
          `${path('deadline_at')} = ${value(as.text(deadline_at))}`,
          `${path('check_at')} = ${value(as.text(check_at))}`,
          `${path('released')} = ${value(as.text(nonce))}`,
        ]
        return {
          update: `SET ${set.join(', ')} REMOVE ${path('queued')}`,
          condition: `attribute_exists(${path('queued')}) AND ${path('state')} = ${value(as.text('running'))}`,
        }
      })
      if (released.ok) return true
      // Sent twice: the first sending may have done it, and its answer was lost.
      const now = released.sent > 1 ? await table.get(headKey(run), { only: [['released']] }) : undefined
      return now?.released?.S === nonce
    },
  }
}

function queuedRunKey({ tenant, at, run_id }: QueuedRun): Item {
  return queueKey(tenant, `${at}#${run_id}`)
}

function queueKey(tenant: string, sk: string): Item {
  return { pk: as.text(`T#${tenant}#QUEUE`), sk: as.text(sk) }
}

/** SWITCH: the hold of a tenant's starts, if there is one. */
export function startHoldsOn(table: RunTable): StartHolds {
  return {
    async startHold(tenant) {
      const item = await table.get(switchKey(tenant))
      return item?.hold?.S === undefined ? undefined : JSON.parse(item.hold.S)
    },
    async holdStarts(tenant, hold) {
      await table.update(switchKey(tenant), ({ path, value }) => {
        const at = value(as.text(hold.at))
        return {
          update: `SET ${path('hold')} = ${value(as.json(hold))}, ${path('at')} = ${at}`,
          condition: `attribute_not_exists(${path('hold')}) OR ${path('at')} < ${at}`,
        }
      })
    },
    async releaseStarts(tenant) {
      const nonce = table.nonce()
      for (let tries = 0; tries < RELEASE_TRIES; tries += 1) {
        const seen = await table.get(switchKey(tenant))
        // An earlier try did it, and its answer was lost.
        if (seen?.released?.S === nonce) return true
        if (seen?.hold === undefined) return false
        if (await release(table, tenant, seen.hold, nonce)) return true
      }
      throw itemBusyFault('release the starts', RELEASE_TRIES)
    },
  }
}

const RELEASE_TRIES = 20

/** Only the hold that was seen: one that somebody sets while this is sent again stays. */
async function release(table: RunTable, tenant: string, hold: AttributeValue, nonce: string): Promise<boolean> {
  const released = await table.update(switchKey(tenant), ({ path, value }) => ({
    update: `SET ${path('released')} = ${value(as.text(nonce))} REMOVE ${path('hold')}, ${path('at')}`,
    condition: `${path('hold')} = ${value(hold)}`,
  }))
  return released.ok
}

function switchKey(tenant: string): Item {
  return { pk: as.text(`T#${tenant}`), sk: as.text('SWITCH') }
}
