import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { placeOf } from '../../../shared/runs/facts-index.ts'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'
import type { Head } from '../../../shared/runs/head.ts'
import { laneOwner } from '../../../shared/runs/lane.ts'
import { closingTime, type EndedRun, type RunStore } from '../../../shared/runs/run-store.ts'
import { adoptApproval } from './approvals.ts'
import { pageEntries } from './event-encoding.ts'
import { closeFacts, writeAdoptedFacts } from './facts.ts'
import { dueShard, headKey } from './head.ts'
import { as, birthTtl, headTtl, type Item, itemKey, itemTtl, pageSk } from './item-encoding.ts'
import { adoptedLedger } from './ledger.ts'
import { artifactsOn, writeProjection } from './run-items.ts'
import { erasedFault } from './runs.ts'
import { ifAbsent, type RunTable } from './table.ts'

/** Events a page: they are packed, and an append has 24 at most of 8 KiB. */
const PAGE = 32
/** Writes at once. */
const PARALLEL = 16

/**
 * Takes an ended run of another store. CTX comes first, so that a start with the same Idempotency-Key finds its run, and
 * HEAD last: with it the run is there, whole. One that stops in between leaves nothing anybody sees, and is done again.
 */
export function adoptOn(table: RunTable): Pick<RunStore, 'adopt'> {
  const { putArtifact } = artifactsOn(table)
  return {
    async adopt(run) {
      const { meta, projections, approvals, artifacts } = run
      if ((await table.get(headKey(meta), { only: [['v']] })) !== undefined) return false
      const birth = await table.put(contextItem(table, run), ifAbsent)
      if (!birth.ok && birth.item?.adopted === undefined && !(await isOwn(table, run))) return false
      await writeAdoptedFacts(table, run)
      await eachOf(pagesOf(table, run), (page) => table.put(page))
      await eachOf(projections, (projection) => writeProjection(table, meta, projection))
      await eachOf(approvals, (item) => adoptApproval(table, meta, item, closingTime(run, item.id)))
      await eachOf(artifacts, (artifact) => putArtifact(meta, artifact))
      await table.put({ ...itemKey(meta, 'META'), body: as.json(meta), ttl: birthTtl(table) })
      const { ok } = await table.put(headItem(table, run), ifAbsent)
      if (ok) await closeFacts(table, meta, run.head, placeOf(meta))
      return ok
    },
  }
}

/** An emulator does not say what was there. Fault NotFound run_erased. */
async function isOwn(table: RunTable, { meta: { tenant, run_id } }: EndedRun): Promise<boolean> {
  const item = await table.get(itemKey({ tenant, run_id }, 'CTX'), { only: [['adopted'], ['erased']] })
  if (item?.erased !== undefined) throw await erasedFault(table, { tenant, run_id })
  return item?.adopted !== undefined
}

async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < all.length; at += PARALLEL) await Promise.all(all.slice(at, at + PARALLEL).map(work))
}

/** `birth` is what a start of the same id would go on from, if HEAD were not there. */
function contextItem(table: RunTable, { meta, head, context, events }: EndedRun): Item {
  const { seq: _seq, id: _id, run_id: _run, at: _at, ...event } = events[0] ?? ({} as RunEvent)
  const run = { meta, deadline_at: head.deadline_at, check_at: head.deadline_at, event, outbox: [] }
  return {
    ...itemKey(meta, 'CTX'),
    version: as.number(context.version),
    values: as.json(context.values),
    birth: as.json({ run, nonce: 'adopted' }),
    adopted: as.number(1),
    ttl: birthTtl(table),
  }
}

function pagesOf(table: RunTable, { meta, events }: EndedRun): readonly Item[] {
  const pages: Item[] = []
  for (let base = 0; base < events.length; base += PAGE) {
    const texts = events.slice(base, base + PAGE).map(textOf)
    pages.push({
      ...itemKey(meta, pageSk(base + texts.length)),
      base: as.number(base),
      n: as.number(texts.length),
      events: pageEntries(texts, 2),
      ttl: itemTtl(table),
    })
  }
  return pages
}

/** As pages keep it: seq is its place. */
function textOf({ seq: _seq, run_id: _run, id, at, ...event }: RunEvent): string {
  return JSON.stringify({ id, at, ...event })
}

function headItem(table: RunTable, { meta, head, events }: EndedRun): Item {
  const { tenant, run_id, created_at, dag_name } = meta
  const { running, ended, stored_bytes, labels } = head
  return {
    ...headKey(meta),
    v: as.number(2),
    state: as.text(head.state),
    dag_name: as.text(dag_name),
    by_tenant: as.text(`T#${tenant}`),
    created: as.text(`${created_at}#${run_id}`),
    due: as.text(dueShard(run_id)),
    base: as.number(head.seq),
    base_hash: as.text(hashAfter(events)),
    log: as.list([]),
    ...lanesOf(head),
    ...(running.length === 0 ? {} : { running: as.members(running) }),
    approvals: mapOf(head.approvals, (one) => as.map({ status: as.text(one.status), body: as.json(one) })),
    modules: mapOf(head.modules, as.json),
    children: mapOf(head.children, as.text),
    outbox: as.map({}),
    deadline_at: as.text(head.deadline_at),
    ...adoptedLedger(head.budget),
    ...(labels === undefined ? {} : { labels: as.json(labels.values), labels_version: as.number(labels.version) }),
    ...(stored_bytes === undefined ? {} : { stored_bytes: as.number(stored_bytes) }),
    ...(ended === undefined ? {} : { ended: as.json(ended) }),
    ...(head.queued === true ? { queued: as.number(1) } : {}),
    ttl: headTtl(events.at(-1)?.at ?? head.deadline_at, table),
  }
}

function lanesOf({ lanes }: Head): Pick<Item, 'lanes' | 'items'> {
  const named: Record<string, AttributeValue> = {}
  const items: Record<string, Record<string, AttributeValue>> = {}
  for (const [lane, at] of Object.entries(lanes)) {
    const { block, item } = laneOwner(lane) ?? {}
    if (block === undefined || item === undefined) named[lane] = as.number(at)
    else items[block] = { ...items[block], [item]: as.number(at) }
  }
  return { lanes: as.map(named), items: mapOf(items, as.map) }
}

function mapOf<T>(all: Readonly<Record<string, T>>, write: (one: T) => AttributeValue): AttributeValue {
  return as.map(Object.fromEntries(Object.entries(all).map(([key, one]) => [key, write(one)])))
}
