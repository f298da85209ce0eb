import type { Cursors } from '../../../shared/runs/cursors.ts'
import { RUN_INDEXES } from '../../../shared/runs/dynamodb-table.ts'
import {
  type Asked,
  type DamagedQuestion,
  type Inbox,
  type InboxFilter,
  type RunKey,
  type RunStore,
  shownApprovalStatus,
} from '../../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../../shared/runs/run-store-items.ts'
import { headKey, readRunSummary } from './head.ts'
import { as, from, type Item, itemKey, itemTtl } from './item-encoding.ts'
import type { RunTable } from './table.ts'

type Methods = 'putApproval' | 'approval' | 'approvals' | 'approvalTokens' | 'noteMessage'

/** A#: what a person was shown, with its task tokens, which only `approvalTokens` reads. */
export function approvalsOn(table: RunTable): Pick<RunStore, Methods> {
  return {
    async putApproval(run, item, token) {
      const asked = inboxEntry(run, item.id, { closed: false, at: item.requested_at })
      const always = { item, token, set: { ttl: itemTtl(table) } }
      const open = await write(table, run, { ...always, set: { ...always.set, ...asked } }, true)
      // Decided already: a repeat of the question must not bring it back into the inbox.
      if (!open) await write(table, run, always, false)
    },
    async approval(run, id) {
      const item = await table.get(approvalKey(run, id), { only: [['item'], ['slack']] })
      return item?.item === undefined ? undefined : readApproval(item)
    },
    async approvals(run) {
      const items = await table.all(itemKey(run, 'A#'))
      return items.map(readApproval)
    },
    async noteMessage(run, id, message) {
      await table.update(approvalKey(run, id), ({ path, value }) => ({
        update: `SET ${path('slack')} = ${value(as.json(message))}`,
        condition: `attribute_exists(${path('item')}) AND attribute_not_exists(${path('slack')})`,
      }))
    },
    async approvalTokens(run, id) {
      const item = await table.get(approvalKey(run, id), { only: [['tokens']] })
      return item === undefined ? [] : from.members(item, 'tokens')
    },
  }
}

/** The message lies beside the item: a question that is written again does not lose it. */
function readApproval(stored: Item): ApprovalItem {
  const item: ApprovalItem = JSON.parse(from.text(stored, 'item'))
  return stored.slack === undefined ? item : { ...item, slack: JSON.parse(from.text(stored, 'slack')) }
}

/** Moves a question to what is closed of the inbox (index 3), for good; the time of its first closing stays. */
export async function closeInboxEntry(table: RunTable, run: RunKey, id: string, at: string): Promise<void> {
  const moved = Object.entries(inboxEntry(run, id, { closed: true, at }))
  await table.update(approvalKey(run, id), ({ path, value }) => {
    const set = [['closed', as.number(1)] as const, ...moved].map(([name, to]) => `${path(name)} = ${value(to)}`)
    return {
      update: `SET ${set.join(', ')}`,
      condition: `attribute_exists(${path('item')}) AND attribute_not_exists(${path('closed')})`,
    }
  })
}

/** A question of a run that ended elsewhere: its tokens stayed there. */
export async function adoptApproval(table: RunTable, run: RunKey, { slack, ...item }: ApprovalItem, at: string) {
  await table.put({
    ...approvalKey(run, item.id),
    item: as.json(item),
    ...(slack === undefined ? {} : { slack: as.json(slack) }),
    ...inboxEntry(run, item.id, { closed: true, at }),
    closed: as.number(1),
    ttl: itemTtl(table),
  })
}

function approvalKey(run: RunKey, id: string): Item {
  return itemKey(run, `A#${id}`)
}

async function write(
  table: RunTable,
  run: RunKey,
  { item, set, token }: { readonly item: ApprovalItem; readonly set: Item; readonly token: string },
  if_open: boolean,
): Promise<boolean> {
  const written = await table.update(approvalKey(run, item.id), ({ path, value }) => {
    const assignments = Object.entries(set).map(([name, to]) => `${path(name)} = ${value(to)}`)
    // What was asked first is what everybody is asked, and what HEAD binds a decision to.
    const asked = `${path('item')} = if_not_exists(${path('item')}, ${value(as.json(item))})`
    return {
      update: `SET ${[asked, ...assignments].join(', ')} ADD ${path('tokens')} ${value(as.member(token))}`,
      ...(if_open ? { condition: `attribute_not_exists(${path('closed')})` } : {}),
    }
  })
  return written.ok
}

/** Index 3; HEAD, META and A# of what it names are read consistently. */
export function inboxOn(table: RunTable, cursorsOf: (tenant: string) => Promise<Cursors>): Inbox {
  return {
    async inbox(tenant, filter) {
      const cursors = await cursorsOf(tenant)
      const list = filter.closed ? 'closed' : 'open'
      const after = filter.after === undefined ? undefined : cursors.open(tenant, filter.after, list)
      const { items, last } = await inboxPage(table, tenant, filter, after)
      const next = last === undefined ? undefined : readInboxEntry(last)
      return {
        ...(await readQuestions(table, tenant, items)),
        ...(next === undefined ? {} : { next: cursors.seal(tenant, [next.at, next.run_id, next.id], list) }),
      }
    },
  }
}

function inboxPage(
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
async function readQuestions(table: RunTable, tenant: string, entries: readonly Item[]) {
  const places = entries.map(readInboxEntry).map(({ at, run_id, id }) => ({ at, id, run: { tenant, run_id } }))
  const runs = [...new Map(places.map(({ run }) => [run.run_id, run])).values()]
  const ofRuns = runs.flatMap((run) => [headKey(run), metaKey(run)])
  const found = await table.getAll([...ofRuns, ...places.map(({ run, id }) => approvalKey(run, id))])
  const byKey = new Map(found.map((item) => [keyText(item), item]))
  const read = new Map(
    runs.map((run) => {
      const head = byKey.get(keyText(headKey(run)))
      return [run.run_id, head && readRunSummary(run, byKey.get(keyText(metaKey(run))), head)]
    }),
  )
  const asked: Asked[] = []
  const damaged: DamagedQuestion[] = []
  for (const { at, id, run } of places) {
    const one = readQuestion(read.get(run.run_id), byKey.get(keyText(approvalKey(run, id))), id, at)
    if (one === undefined) continue
    if ('item' in one) asked.push(one)
    else damaged.push({ run_id: run.run_id, approval_id: id, ...one.damaged })
  }
  return { asked, ...(damaged.length > 0 && { damaged }) }
}

type Damage = Pick<DamagedQuestion, 'item' | 'seen'>

/** Undefined: there is nothing to show, and nothing is wrong. */
function readQuestion(
  run: ReturnType<typeof readRunSummary> | undefined,
  stored: Item | undefined,
  id: string,
  at: string,
): Asked | { readonly damaged: Damage } | undefined {
  if (run === undefined || 'damaged' in run) return run
  const { head, ...meta } = run.summary
  if (stored === undefined || shownApprovalStatus(head, id) === undefined) return undefined
  try {
    return { item: JSON.parse(from.text(stored, 'item')), meta, head, at }
  } catch (error) {
    return { damaged: { item: 'APPROVAL', seen: error instanceof Error ? error.message : String(error) } }
  }
}

function metaKey(run: RunKey): Item {
  return itemKey(run, 'META')
}

function keyText({ pk, sk }: Item): string {
  return `${pk?.S} ${sk?.S}`
}

/** A place in the inbox: what is open is there by when it was asked, what is closed by when that was. */
interface InboxPosition {
  readonly closed: boolean
  readonly at: string
}

const { hash, range } = RUN_INDEXES.approvals

/** The partition of a tenant's open or closed questions in index 3. */
function inboxPartition(tenant: string, closed: boolean): string {
  return `${closed ? 'C' : 'T'}#${tenant}`
}

/** The attributes that put an A# item into index 3. */
function inboxEntry({ tenant, run_id }: RunKey, id: string, { closed, at }: InboxPosition): Item {
  return {
    [hash]: as.text(inboxPartition(tenant, closed)),
    [range]: as.text(`${at}#${run_id}#${id}`),
  }
}

/** The inverse: time, run and approval of an entry. */
function readInboxEntry(item: Item): { readonly at: string; readonly run_id: string; readonly id: string } {
  const [at = '', run_id = '', id = ''] = from.text(item, range).split('#')
  return { at, run_id, id }
}
