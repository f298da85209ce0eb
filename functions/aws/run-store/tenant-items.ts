import { createHmac } from 'node:crypto'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { type Cursors, createCursors } from '../../../shared/runs/cursors.ts'
import { EMPTY_QUEUE, type KeyQueue, type KeyQueueName } from '../../../shared/runs/key-queue.ts'
import type {
  GoalAttempts,
  KeyQueues,
  Lineages,
  QueuedRun,
  RequestRate,
  RunLink,
  RunQueue,
  StartHolds,
  StoredBytes,
  StoredGoalAttempt,
  TurnName,
  Turns,
} from '../../../shared/runs/run-store.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { headKey } from './head.ts'
import { as, birthTtl, DAY_SEC, from, type Item } from './item-encoding.ts'
import { restingOn } from './resting.ts'
import { ifAbsent, itemBusyFault, type RunTable } from './table.ts'

/**
 * How many requests a caller made in a window. `w` names the request counted last: one that the SDK sends again is not
 * counted twice, unless another came between; then it is, on the careful side.
 */
export function requestRateOn(table: RunTable): RequestRate {
  return {
    async countRequest(tenant, caller, window, cap) {
      if (cap < 1) return false
      const nonce = table.nonce()
      const key = { pk: as.text(`T#${tenant}#RATE`), sk: as.text(`${caller}#${window}`) }
      const counted = await table.update(key, ({ path, value }) => {
        const [count, mine] = [path('n'), value(as.text(nonce))]
        const set = [`${path('w')} = ${mine}`, `${path('ttl')} = ${value(as.number(keptUntil(table.now())))}`]
        return {
          update: `SET ${set.join(', ')} ADD ${count} ${value(as.number(1))}`,
          condition: `attribute_not_exists(${count}) OR (${count} < ${value(as.number(cap))} AND ${path('w')} <> ${mine})`,
        }
      })
      if (counted.ok) return true
      const now = counted.sent > 1 ? (counted.item ?? (await table.get(key))) : undefined
      return now?.w?.S === nonce
    },
  }
}

/** Windows are minutes: after an hour nobody asks. */
function keptUntil(now: number): number {
  return Math.floor(now / 1_000) + 3_600
}

/** So many items share what is written in one week, so that none gets hot. */
const SHARDS = 4

/** What a tenant stored, in a partition of its own: `<week>#<shard>`. */
export function storedBytesOn(table: RunTable): StoredBytes {
  return {
    async countStored(tenant, { week, bytes, ttl }) {
      const shard = table.nonce().charCodeAt(0) % SHARDS
      await table.update({ ...partition(tenant), sk: as.text(`${week}#${shard}`) }, ({ path, value }) => ({
        update: `SET ${path('ttl')} = ${value(as.number(ttl))} ADD ${path('n')} ${value(as.number(bytes))}`,
      }))
    },
    async storedSince(tenant, week) {
      // The table forgets a week some time after its end: until then it is left out here.
      const counts = await table.all(partition(tenant))
      const kept = counts.filter((item) => from.text(item, 'sk') >= week)
      return kept.reduce((sum, item) => sum + from.number(item, 'n'), 0)
    },
  }
}

function partition(tenant: string) {
  return { pk: as.text(`T#${tenant}#STORED`) }
}

/** LINEAGE#: one item a run that came of the root, so that a long line of runs never fills an item. */
export function lineageOn(table: RunTable): Lineages {
  return {
    async linkRun(tenant, root, link) {
      const item = { ...linkKey(tenant, root, link.run_id), link: as.json(link), ttl: birthTtl(table) }
      await table.put(item, ifAbsent)
    },
    async lineage(tenant, root) {
      const items = await table.all(linkKey(tenant, root, ''))
      const links = items.map((item): RunLink => JSON.parse(from.text(item, 'link')))
      return links.toSorted((a, b) => (`${a.at} ${a.run_id}` < `${b.at} ${b.run_id}` ? -1 : 1))
    },
  }
}

function linkKey(tenant: string, root: string, run_id: string): Item {
  return { pk: as.text(`T#${tenant}#L#${root}`), sk: as.text(`LINEAGE#${run_id}`) }
}

/** ATTEMPT#, beside the LINEAGE# items of the root: one item a number. */
export function goalAttemptsOn(table: RunTable): GoalAttempts {
  return {
    async goalAttempts(tenant, root) {
      const items = await table.all(attemptKey(tenant, root, ''))
      return items.map((item): StoredGoalAttempt => JSON.parse(from.text(item, 'attempt')))
    },
    async putGoalAttempt(tenant, root, n, { run_id, at, status, fingerprint, unmet, metCount, totalCount }) {
      const key = attemptKey(tenant, root, String(n).padStart(DIGITS, '0'))
      const attempt: StoredGoalAttempt = { n, run_id, at, status, fingerprint, unmet, metCount, totalCount }
      const item = { ...key, run_id: as.text(run_id), attempt: as.json(attempt), ttl: birthTtl(table) }
      const noted = await table.put(item, ifAbsent)
      if (noted.ok) return true
      // Also when the SDK sent it twice and the first answer was lost.
      const there = noted.item ?? (await table.get(key))
      return there?.run_id?.S === run_id
    },
  }
}

/** Sort keys are text: so many digits hold every number a contract can name as its most. */
const DIGITS = 16

function attemptKey(tenant: string, root: string, n: string): Item {
  return { pk: as.text(`T#${tenant}#L#${root}`), sk: as.text(`ATTEMPT#${n}`) }
}

/**
 * One item a run that waits, by rank, in a partition of their own: the only items anybody may delete (infra/aws). And
 * the update of HEAD that lets a run go.
 */
export function runQueueOn(table: RunTable): RunQueue {
  return {
    ...restingOn(table),
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

/**
 * One item a key: who goes on and who waits, as one text. `v` names the write it is of, so that no queue is taken for an
 * earlier one. One in which nobody stands is forgotten after a day.
 */
export function keyQueuesOn(table: RunTable): KeyQueues {
  return {
    async keyQueue(of) {
      const item = await table.get(keyQueueKey(of))
      return item === undefined ? { ...EMPTY_QUEUE, version: undefined } : { ...standing(item), version: item.v?.S }
    },
    async putKeyQueue(of, { running, waiting }, version) {
      const nonce = table.nonce()
      const isEmpty = running.length === 0 && waiting.length === 0
      const item = {
        ...keyQueueKey(of),
        v: as.text(nonce),
        queue: as.json({ running, waiting }),
        ...(isEmpty ? { ttl: as.number(Math.floor(table.now() / 1_000) + DAY_SEC) } : {}),
      }
      const written = await table.put(item, (terms) =>
        version === undefined ? ifAbsent(terms) : `${terms.path('v')} = ${terms.value(as.text(version))}`,
      )
      if (written.ok) return true
      // Sent twice: the first sending may have done it, and its answer was lost.
      return written.sent > 1 && (await table.get(keyQueueKey(of)))?.v?.S === nonce
    },
  }
}

/** Our own text. */
function standing(item: Item): KeyQueue {
  return JSON.parse(from.text(item, 'queue'))
}

function keyQueueKey({ tenant, queue }: KeyQueueName): Item {
  return { pk: as.text(`T#${tenant}#KEY#${queue}`), sk: as.text('KEY') }
}

/** SWITCH: the hold of a tenant's starts, if there is one; SWITCH#<document>: that of the starts of one document. */
export function startHoldsOn(table: RunTable): StartHolds {
  return {
    async startHold(tenant, dag) {
      const item = await table.get(switchKey(tenant, dag))
      return item?.hold?.S === undefined ? undefined : JSON.parse(item.hold.S)
    },
    async holdStarts(tenant, hold, dag) {
      await table.update(switchKey(tenant, dag), ({ path, value }) => {
        const at = value(as.text(hold.at))
        return {
          update: `SET ${path('hold')} = ${value(as.json(hold))}, ${path('at')} = ${at}`,
          condition: `attribute_not_exists(${path('hold')}) OR ${path('at')} < ${at}`,
        }
      })
    },
    async releaseStarts(tenant, dag) {
      const nonce = table.nonce()
      for (let tries = 0; tries < RELEASE_TRIES; tries += 1) {
        const seen = await table.get(switchKey(tenant, dag))
        // An earlier try did it, and its answer was lost.
        if (seen?.released?.S === nonce) return true
        if (seen?.hold === undefined) return false
        if (await release(table, switchKey(tenant, dag), seen.hold, nonce)) return true
      }
      throw itemBusyFault('release the starts', RELEASE_TRIES)
    },
  }
}

const RELEASE_TRIES = 20

/** Only the hold that was seen: one that somebody sets while this is sent again stays. */
async function release(table: RunTable, key: Item, hold: AttributeValue, nonce: string): Promise<boolean> {
  const released = await table.update(key, ({ path, value }) => ({
    update: `SET ${path('released')} = ${value(as.text(nonce))} REMOVE ${path('hold')}, ${path('at')}`,
    condition: `${path('hold')} = ${value(hold)}`,
  }))
  return released.ok
}

function switchKey(tenant: string, dag: string | undefined): Item {
  return { pk: as.text(`T#${tenant}`), sk: as.text(dag === undefined ? 'SWITCH' : `SWITCH#${dag}`) }
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

function turnKey({ tenant, name }: TurnName): Item {
  return { pk: as.text(`T#${tenant}#TURN#${sha256(name)}`), sk: as.text('TURN') }
}

/** Cursors of a tenant, under a key made once a tenant and table and kept there, so that they outlive the process. */
export function cursorsOn(
  table: RunTable,
  random: (bytes: number) => Uint8Array,
): (tenant: string) => Promise<Cursors> {
  const known = new Map<string, Cursors>()
  return async (tenant) => {
    const cursors = known.get(tenant) ?? createCursors(await keyOf(table, tenant, random))
    if (known.size >= KNOWN_TENANTS) known.clear()
    known.set(tenant, cursors)
    return cursors
  }
}

const KNOWN_TENANTS = 1_000

async function keyOf(table: RunTable, tenant: string, random: (bytes: number) => Uint8Array): Promise<Uint8Array> {
  const key = { pk: as.text(`T#${tenant}`), sk: as.text('CURSOR_KEY') }
  const there = await table.get(key)
  if (there !== undefined) return derived(from.bytes(there, 'key'))
  const made = random(32)
  const written = await table.put({ ...key, key: as.bytes(made) }, ifAbsent)
  if (written.ok) return derived(made)
  return derived(from.bytes((await table.get(key)) ?? {}, 'key'))
}

/** The item is a secret to derive from; cursors are one use of it. */
function derived(secret: Uint8Array): Uint8Array {
  return createHmac('sha256', secret).update('sluice cursors of runs').digest()
}
