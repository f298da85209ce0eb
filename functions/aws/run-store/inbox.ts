import type { Asked, DamagedQuestion, Inbox, InboxFilter } from '../../../shared/runs/inbox.ts'
import { shownStatus } from '../../../shared/runs/inbox.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { RUN_INDEXES } from '../../../shared/runs/table.ts'
import { approvalKey } from './approvals.ts'
import { as, from, type Item } from './attribute-values.ts'
import type { Cursors } from './cursors.ts'
import { headKey, readRun } from './head-item.ts'
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
        ...(await sortedOut(table, tenant, items)),
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
async function sortedOut(table: RunTable, tenant: string, entries: readonly Item[]) {
  const places = entries.map(readInboxEntry).map(({ at, run_id, id }) => ({ at, id, run: { tenant, run_id } }))
  const runs = [...new Map(places.map(({ run }) => [run.run_id, run])).values()]
  const ofRuns = runs.flatMap((run) => [headKey(run), metaKey(run)])
  const found = await table.getAll([...ofRuns, ...places.map(({ run, id }) => approvalKey(run, id))])
  const byKey = new Map(found.map((item) => [textOf(item), item]))
  const read = new Map(
    runs.map((run) => {
      const head = byKey.get(textOf(headKey(run)))
      return [run.run_id, head && readRun(run, byKey.get(textOf(metaKey(run))), head)]
    }),
  )
  const asked: Asked[] = []
  const damaged: DamagedQuestion[] = []
  for (const { at, id, run } of places) {
    const one = askedOf(read.get(run.run_id), byKey.get(textOf(approvalKey(run, id))), id, at)
    if (one === undefined) continue
    if ('item' in one) asked.push(one)
    else damaged.push({ run_id: run.run_id, approval_id: id, ...one.damaged })
  }
  return { asked, ...(damaged.length > 0 && { damaged }) }
}

type Damage = Pick<DamagedQuestion, 'item' | 'seen'>

/** Undefined: there is nothing to show, and nothing is wrong. */
function askedOf(
  run: ReturnType<typeof readRun> | undefined,
  stored: Item | undefined,
  id: string,
  at: string,
): Asked | { readonly damaged: Damage } | undefined {
  if (run === undefined || 'damaged' in run) return run
  const { head, ...meta } = run.summary
  if (stored === undefined || shownStatus(head, id) === undefined) return undefined
  try {
    return { item: JSON.parse(from.text(stored, 'item')), meta, head, at }
  } catch (error) {
    return { damaged: { item: 'APPROVAL', seen: error instanceof Error ? error.message : String(error) } }
  }
}

function metaKey(run: RunKey): Item {
  return itemKey(run, 'META')
}

function textOf({ pk, sk }: Item): string {
  return `${pk?.S} ${sk?.S}`
}
