import type { Asked, Inbox, InboxFilter } from '../../../shared/runs/inbox.ts'
import { shownStatus } from '../../../shared/runs/inbox.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { RUN_INDEXES } from '../../../shared/runs/table.ts'
import { approvalKey } from './approvals.ts'
import { as, from, type Item } from './attribute-values.ts'
import type { Cursors } from './cursors.ts'
import { headKey, readHead, type StoredHead } from './head-item.ts'
import { inboxEntry, inboxPartition, readInboxEntry } from './inbox-entry.ts'
import { itemKey } from './item-keys.ts'
import type { RunTable } from './run-table.ts'

/** Index 3; HEAD, META and A# of what it names are read consistently. */
export function inboxOf(table: RunTable, cursorsOf: (tenant: string) => Promise<Cursors>): Inbox {
  return {
    async inbox(tenant, filter) {
      const cursors = await cursorsOf(tenant)
      const list = filter.closed ? 'closed' : 'open'
      const after = filter.after === undefined ? undefined : cursors.open(tenant, filter.after, list)
      const { items, last } = await pageOf(table, tenant, filter, after)
      const next = last === undefined ? undefined : readInboxEntry(last)
      return {
        asked: await askedOf(table, tenant, items),
        ...(next === undefined ? {} : { next: cursors.seal(tenant, [next.at, next.run_id, next.id], list) }),
      }
    },
  }
}

function pageOf(
  table: RunTable,
  tenant: string,
  { closed, limit }: InboxFilter,
  after: readonly string[] | undefined,
): ReturnType<RunTable['query']> {
  const { name, hash } = RUN_INDEXES.approvals
  return table.query({
    index: name,
    where: ({ path, value }) => ({
      condition: `${path(hash)} = ${value(as.text(inboxPartition(tenant, closed)))}`,
    }),
    backwards: closed,
    limit,
    ...(after === undefined ? {} : { after: indexKey(tenant, closed, after) }),
  })
}

function indexKey(tenant: string, closed: boolean, [at = '', run_id = '', id = '']: readonly string[]): Item {
  const run = { tenant, run_id }
  return { ...approvalKey(run, id), ...inboxEntry(run, id, { closed, at }) }
}

/** In the order given; what HEAD does not know yet, and what expired meanwhile, is left out. */
async function askedOf(table: RunTable, tenant: string, entries: readonly Item[]): Promise<readonly Asked[]> {
  const places = entries.map(readInboxEntry).map(({ at, run_id, id }) => ({ at, id, run: { tenant, run_id } }))
  const runs = new Map(places.map(({ run }) => [run.run_id, run]))
  const ofRuns = [...runs.values()].flatMap((run) => [headKey(run), metaKey(run)])
  const found = await table.getAll([...ofRuns, ...places.map(({ run, id }) => approvalKey(run, id))])
  const byKey = new Map(found.map((item) => [textOf(item), item]))
  const read = <T>(key: Item, how: (item: Item) => T): T | undefined => {
    const item = byKey.get(textOf(key))
    return item === undefined ? undefined : how(item)
  }
  const heads = new Map<string, StoredHead | undefined>(
    [...runs.values()].map((run) => [run.run_id, read(headKey(run), readHead)]),
  )
  return places.flatMap(({ at, id, run }): readonly Asked[] => {
    const head = heads.get(run.run_id)?.head
    const meta = read(metaKey(run), (item) => JSON.parse(from.text(item, 'body')))
    const item = read(approvalKey(run, id), (stored) => JSON.parse(from.text(stored, 'item')))
    const known = head !== undefined && shownStatus(head, id) !== undefined
    return known && meta !== undefined && item !== undefined ? [{ item, meta, head, at }] : []
  })
}

function metaKey(run: RunKey): Item {
  return itemKey(run, 'META')
}

function textOf({ pk, sk }: Item): string {
  return `${pk?.S} ${sk?.S}`
}
