import {
  BULK_PART,
  type Bulk,
  type BulkKey,
  type BulkOutcome,
  type BulkRun,
  type Bulks,
} from '../../../shared/runs/bulk.ts'
import { dueShard } from './head.ts'
import { as, from, type Item, itemKey, itemTtl } from './item-encoding.ts'
import { ifAbsent, type RunTable } from './table.ts'

/**
 * A bulk lies in a partition like a run's, under its own id: BULK, LIST# parts of the ids, OUT# an outcome each. `due` finds it
 * as it finds a run. What leads to all of a tenant is `T#<tenant>#BULKS`, written between the list and the bulk itself.
 */
export function bulksOn(table: RunTable): Bulks {
  const read = async (key: BulkKey) => {
    const item = await table.get(bulkKey(key))
    return item === undefined ? undefined : bulkOf(item)
  }
  return {
    bulk: read,
    ...listsOf(table),
    async putBulk(bulk, run_ids) {
      const ttl = itemTtl(table)
      for (let at = 0; at < run_ids.length; at += BULK_PART) {
        await table.put({ ...partKey(bulk, at), ids: as.list(run_ids.slice(at, at + BULK_PART)), ttl })
      }
      await table.put({ pk: as.text(`T#${bulk.tenant}#BULKS`), sk: as.text(bulk.bulk_id), ttl })
      await table.put({ ...bulkKey(bulk), version: as.number(bulk.version), bulk: as.json(bulk), ttl }, ifAbsent)
    },
    async moveBulk(bulk, check_at) {
      const moved = await table.update(bulkKey(bulk), ({ path, value }) => {
        const set = [
          `${path('bulk')} = ${value(as.json(bulk))}`,
          `${path('version')} = ${value(as.number(bulk.version))}`,
          ...(check_at === undefined
            ? []
            : [
                `${path('due')} = ${value(as.text(dueShard(bulk.bulk_id)))}`,
                `${path('check_at')} = ${value(as.text(check_at))}`,
              ]),
        ]
        const over = check_at === undefined ? ` REMOVE ${path('check_at')}` : ''
        return {
          update: `SET ${set.join(', ')}${over}`,
          condition: `${path('version')} = ${value(as.number(bulk.version - 1))}`,
        }
      })
      if (moved.ok) return true
      // Sent twice: the first sending may have done it, and its answer was lost.
      const there = moved.sent > 1 ? (moved.item ?? (await table.get(bulkKey(bulk)))) : undefined
      return there?.bulk?.S === JSON.stringify(bulk)
    },
    async moveBulkCheck(key, was, to) {
      await table.update(bulkKey(key), ({ path, value }) => ({
        update: `SET ${path('check_at')} = ${value(as.text(to))}`,
        condition: `${path('check_at')} = ${value(as.text(was))}`,
      }))
    },
    async bulkCheck(key) {
      return (await table.get(bulkKey(key)))?.check_at?.S
    },
  }
}

function bulkKey({ tenant, bulk_id }: BulkKey): Item {
  return itemKey({ tenant, run_id: bulk_id }, 'BULK')
}

/** Our own text. */
function bulkOf(item: Item): Bulk {
  return JSON.parse(from.text(item, 'bulk'))
}

/** Padded so that text order is number order. */
function placeKey({ tenant, bulk_id }: BulkKey, kind: 'LIST#' | 'OUT#', n: number): Item {
  return itemKey({ tenant, run_id: bulk_id }, `${kind}${String(n).padStart(9, '0')}`)
}

function partKey(key: BulkKey, at: number): Item {
  return placeKey(key, 'LIST#', at - (at % BULK_PART))
}

function listsOf(table: RunTable): Pick<Bulks, 'bulks' | 'bulkRuns' | 'putBulkOutcome'> {
  return {
    async bulks(tenant, { limit, before }) {
      const { items } = await table.query({
        where: ({ path, value }) => {
          const whole = `${path('pk')} = ${value(as.text(`T#${tenant}#BULKS`))}`
          return { condition: before === undefined ? whole : `${whole} AND ${path('sk')} < ${value(as.text(before))}` }
        },
        backwards: true,
        limit,
      })
      const ids = items.map((item) => from.text(item, 'sk'))
      const found = await table.getAll(ids.map((bulk_id) => bulkKey({ tenant, bulk_id })))
      return found.map(bulkOf).toSorted((a, b) => (a.bulk_id < b.bulk_id ? 1 : -1))
    },
    async bulkRuns(key, first, limit) {
      const runs: { n: number; run_id: string }[] = []
      for (let at = first; at < first + limit; at += BULK_PART - (at % BULK_PART)) {
        const item = await table.get(partKey(key, at))
        const ids = item === undefined ? [] : from.list(item, 'ids')
        const start = at - (at % BULK_PART)
        runs.push(...ids.map((run_id, i) => ({ n: start + i, run_id })))
        if (ids.length < BULK_PART) break
      }
      const wanted = runs.filter(({ n }) => n >= first && n < first + limit)
      const outcomes = new Map<string, BulkOutcome>()
      for (const item of await table.getAll(wanted.map(({ n }) => placeKey(key, 'OUT#', n)))) {
        outcomes.set(from.text(item, 'sk'), JSON.parse(from.text(item, 'outcome')))
      }
      return wanted.map(({ n, run_id }): BulkRun => {
        const outcome = outcomes.get(placeKey(key, 'OUT#', n).sk?.S ?? '')
        return { n, run_id, ...(outcome === undefined ? {} : { outcome }) }
      })
    },
    async putBulkOutcome(key, n, outcome) {
      await table.put({ ...placeKey(key, 'OUT#', n), outcome: as.json(outcome), ttl: itemTtl(table) }, ifAbsent)
    },
  }
}
