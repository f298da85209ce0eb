import type { Cursors, Position } from '../../../shared/runs/cursors.ts'
import type { DeadWebhook, DeadWebhooks } from '../../../shared/runs/dead-webhook.ts'
import { RUN_INDEXES, RUN_TABLE } from '../../../shared/runs/dynamodb-table.ts'
import type { RunFilter, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { inboxOn } from './approvals.ts'
import { DUE_SHARDS, headKey, readRunSummary } from './head.ts'
import { as, DAY_SEC, from, type Item, itemKey, runInKey } from './item-encoding.ts'
import { ifAbsent, type RunTable, type Terms } from './table.ts'

/**
 * Index 1, runs by tenant and time, index 2, runs somebody must look at, and index 3, the inbox. Indexes follow the table within about a
 * second; META and HEAD of what they name are read consistently. Dead webhooks have a partition of their own.
 */
export function listsOn(
  table: RunTable,
  cursorsOf: (tenant: string) => Promise<Cursors>,
): Pick<RunStore, 'list' | 'summaries' | 'due' | 'inbox' | keyof DeadWebhooks> {
  return {
    ...inboxOn(table, cursorsOf),
    ...deadWebhooksOn(table, cursorsOf),
    async list(tenant, filter) {
      const cursors = await cursorsOf(tenant)
      const after = filter.after === undefined ? undefined : cursors.open(tenant, filter.after, 'runs')
      const { found, next } = await findRuns(table, tenant, filter, after)
      const { runs, damaged } = await summaries(table, found)
      const shown = runs.filter(({ head }) => filter.state === undefined || head.state === filter.state)
      const told = damaged.length === 0 ? {} : { damaged }
      return { runs: shown, ...told, ...(next === undefined ? {} : { next: cursors.seal(tenant, next, 'runs') }) }
    },
    async summaries(tenant, run_ids) {
      const { runs, damaged } = await summaries(
        table,
        run_ids.map((run_id) => ({ tenant, run_id })),
      )
      return { runs, ...(damaged.length === 0 ? {} : { damaged }) }
    },
    async due(at, limit) {
      const shards = await Promise.all(DUE_SHARDS.map((shard) => dueIn(table, shard, at, limit)))
      const items = shards.flat().toSorted((a, b) => (from.text(a, 'check_at') < from.text(b, 'check_at') ? -1 : 1))
      // A run's HEAD and its mark may both be due.
      const keys = [...new Set(items.map((item) => from.text(item, 'pk')))]
      return keys.slice(0, limit).map(runInKey)
    },
  }
}

async function dueIn(table: RunTable, shard: string, at: string, limit: number): Promise<readonly Item[]> {
  const { name, hash, range } = RUN_INDEXES.due
  const { items } = await table.query({
    index: name,
    where: ({ path, value }) => ({
      condition: `${path(hash)} = ${value(as.text(shard))} AND ${path(range)} <= ${value(as.text(at))}`,
    }),
    limit,
  })
  return items
}

interface Found {
  readonly found: readonly RunKey[]
  /** Where the next page goes on. */
  readonly next: Position | undefined
}

/** A filter that fits few runs reads at most so many index pages; the answer then has fewer runs, and a cursor. */
const MAX_QUERIES = 20
const FILTERED_PAGE = 250

async function findRuns(
  table: RunTable,
  tenant: string,
  filter: RunFilter,
  after: Position | undefined,
): Promise<Found> {
  const keys: Item[] = []
  let from_key = after === undefined ? undefined : indexKey(tenant, after)
  for (let queries = 0; queries < MAX_QUERIES; queries += 1) {
    const { items, last } = await newest(table, tenant, filter, from_key)
    keys.push(...items)
    from_key = last
    if (last === undefined || keys.length > filter.limit) break
  }
  const found = keys.slice(0, filter.limit)
  const end = keys.length > filter.limit ? found.at(-1) : from_key
  return { found: found.map((item) => runInKey(from.text(item, 'pk'))), next: end && positionOf(end) }
}

function newest(table: RunTable, tenant: string, filter: RunFilter, after: Item | undefined) {
  const { name, hash } = RUN_INDEXES.runs
  const isFiltered = [filter.state, filter.dag_name, filter.id_begins].some((wanted) => wanted !== undefined)
  return table.query({
    index: name,
    where: (terms) => ({
      condition: `${terms.path(hash)} = ${terms.value(as.text(`T#${tenant}`))}`,
      ...(isFiltered ? { filter: filterOf(terms, tenant, filter) } : {}),
    }),
    backwards: true,
    limit: isFiltered ? FILTERED_PAGE : filter.limit + 1,
    ...(after === undefined ? {} : { after }),
  })
}

function filterOf({ path, value }: Terms, tenant: string, { state, dag_name, id_begins }: RunFilter): string {
  const equal = Object.entries({ state, dag_name }).flatMap(([field, is]) =>
    is === undefined ? [] : [`${path(field)} = ${value(as.text(is))}`],
  )
  if (id_begins === undefined) return equal.join(' AND ')
  const { pk = as.text('') } = headKey({ tenant, run_id: id_begins })
  return [...equal, `begins_with(${path('pk')}, ${value(pk)})`].join(' AND ')
}

function indexKey(tenant: string, [created_at = '', run_id = '']: Position): Item {
  const { hash, range } = RUN_INDEXES.runs
  return {
    ...headKey({ tenant, run_id }),
    [hash]: as.text(`T#${tenant}`),
    [range]: as.text(`${created_at}#${run_id}`),
  }
}

function positionOf(item: Item): Position {
  return from.text(item, RUN_INDEXES.runs.range).split('#')
}

/** META and HEAD of each, in the order given; one whose HEAD expired meanwhile is left out: META outlives it. */
async function summaries(table: RunTable, runs: readonly RunKey[]) {
  const items = await table.getAll(runs.flatMap((run) => [headKey(run), itemKey(run, 'META')]))
  const byKey = new Map(items.map((item) => [`${item.pk?.S} ${item.sk?.S}`, item]))
  const read = runs.flatMap((run) => {
    const { pk } = headKey(run)
    const head = byKey.get(`${pk?.S} HEAD`)
    const meta = byKey.get(`${pk?.S} META`)
    return head === undefined ? [] : [readRunSummary(run, meta, head)]
  })
  return {
    runs: read.flatMap((one) => ('summary' in one ? [one.summary] : [])),
    damaged: read.flatMap((one) => ('damaged' in one ? [one.damaged] : [])),
  }
}

/** DEAD#, in a partition of the tenant, by the time of the event: one item a message nobody took. */
function deadWebhooksOn(table: RunTable, cursorsOf: (tenant: string) => Promise<Cursors>): DeadWebhooks {
  return {
    async buryWebhook(tenant, dead) {
      const item = { ...deadKey(tenant, dead), dead: as.json(dead), ttl: keep(table) }
      await table.put(item, ifAbsent)
    },
    async replayedWebhook(tenant, dead) {
      await table.update(deadKey(tenant, dead), ({ path, value }) => ({
        update: `SET ${path('dead')} = ${value(as.json(dead))}`,
        condition: `attribute_exists(${path('dead')})`,
      }))
    },
    async deadWebhook(tenant, of) {
      const item = await table.get(deadKey(tenant, of))
      return item === undefined ? undefined : read(item)
    },
    async deadWebhooks(tenant, { limit, after }) {
      const cursors = await cursorsOf(tenant)
      const [event_at = '', id = ''] = after === undefined ? [] : cursors.open(tenant, after, 'dead')
      const { items, last } = await table.query({
        where: ({ path, value }) => ({ condition: `${path(RUN_TABLE.hash)} = ${value(partition(tenant))}` }),
        backwards: true,
        limit,
        ...(after === undefined ? {} : { after: deadKey(tenant, { event_at, id }) }),
      })
      const dead = items.map(read)
      const end = dead.at(-1)
      if (last === undefined || end === undefined) return { dead }
      return { dead, next: cursors.seal(tenant, [end.event_at, end.id], 'dead') }
    },
  }
}

/** It is of no use when its event is gone. */
function keep({ now, retention_days }: RunTable) {
  return as.number(Math.floor(now() / 1_000) + Math.max(1, retention_days) * DAY_SEC)
}

function read(item: Item): DeadWebhook {
  return JSON.parse(from.text(item, 'dead'))
}

function partition(tenant: string) {
  return as.text(`T#${tenant}#WEBHOOKS`)
}

function deadKey(tenant: string, { event_at, id }: Pick<DeadWebhook, 'event_at' | 'id'>): Item {
  return { pk: partition(tenant), sk: as.text(`DEAD#${event_at}#${id}`) }
}
