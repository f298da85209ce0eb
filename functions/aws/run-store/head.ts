import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Amount } from '../../../shared/runs/budget.ts'
import type { Head, HeadApproval, HeadModule, OutboxEntry, RunState } from '../../../shared/runs/head.ts'
import { byLane } from '../../../shared/runs/lane.ts'
import type { DamagedRun, Meta, RunKey } from '../../../shared/runs/run-store.ts'
import { type Layout, layoutOf, readTail } from './event-encoding.ts'
import { from, type Item, itemKey } from './item-encoding.ts'
import { itemLanes, namedLanes, packedGroups, packedLanes } from './lanes.ts'
import { readLedger, readShare } from './ledger.ts'

/** Where the bytes of a run begin that was there before they were counted: so low that the sum stays below zero. */
export const UNCOUNTED = -(10 ** 14)

/** HEAD with what only the store sees of it: the events since `base`, and the hash of event `base`. */
export interface StoredHead {
  readonly head: Head
  readonly layout: Layout
  readonly base: number
  readonly base_hash: string
  /** How many events came since. */
  readonly waiting: number
  /** created_at#run_id. */
  readonly place: string
  /** Their JSON texts: base+1, base+2, .. */
  tail(): readonly string[]
  /** What `head.lanes` came of (lanes.ts). */
  readonly named: Head['lanes']
  readonly packed: ReadonlySet<number>
  /** Indexes of the foreach blocks whose items are open. */
  readonly open: ReadonlySet<string>
  /** How many items of a foreach block failed for good since they were opened. */
  failed(block: number): number
  /** What they have committed together. */
  share(block: number): Amount
}

export function headKey(run: RunKey): Item {
  return itemKey(run, 'HEAD')
}

/** Reads HEAD, or the part of it a projection left: lanes and such that were not asked for are empty. */
export function readHead(item: Item): StoredHead {
  const base = from.number(item, 'base')
  const { waiting, tail } = readTail(item)
  const named = namedLanes(item)
  const packed = packedGroups(item)
  const check_at = item.check_at?.S
  const head: Head = {
    // Our own word, written by `newHead` and the append.
    state: from.text(item, 'state') as RunState,
    seq: base + waiting,
    lanes: { ...packedLanes(packed), ...named, ...itemLanes(item) },
    running: from.members(item, 'running').toSorted(byLane),
    approvals: mapped(item, 'approvals', ({ M }): HeadApproval => JSON.parse(M?.body?.S ?? 'null')),
    modules: mapped(item, 'modules', ({ S }): HeadModule => JSON.parse(S ?? 'null')),
    children: mapped(item, 'children', ({ S = '' }) => S),
    deadline_at: from.text(item, 'deadline_at'),
    ...(check_at === undefined ? {} : { check_at }),
    outbox: entriesOf(item),
    budget: readLedger(item),
    ...storedIn(item),
    ...(item.ended?.S === undefined ? {} : { ended: JSON.parse(item.ended.S) }),
    ...(item.queued === undefined ? {} : { queued: true }),
    ...(item.resting?.S === undefined ? {} : { resting: JSON.parse(item.resting.S) }),
    ...(item.paused?.S === undefined ? {} : { paused: JSON.parse(item.paused.S) }),
    ...labelsIn(item),
  }
  return {
    head,
    layout: layoutOf(item),
    base,
    base_hash: from.text(item, 'base_hash'),
    waiting,
    place: item.created?.S ?? '',
    tail,
    named,
    packed,
    open: new Set(Object.keys(from.map(item, 'items'))),
    failed: (block) => Number(item[failedName(block)]?.N ?? 0),
    share: (block) => readShare(item, block),
  }
}

/** An item that somebody changed or removed by hand hides no other run. */
export function readRunSummary({ run_id }: RunKey, meta: Item | undefined, head: Item): RunSummary | Damaged {
  if (meta === undefined) return { damaged: { run_id, item: 'META', seen: 'it is missing' } }
  let item: DamagedRun['item'] = 'META'
  try {
    const body: Meta = JSON.parse(from.text(meta, 'body'))
    item = 'HEAD'
    return { summary: { ...body, head: readHead(head).head } }
  } catch (error) {
    return { damaged: { run_id, item, seen: error instanceof Error ? error.message : String(error) } }
  }
}

/** A run that began before they were counted says nothing, however much is added since (append.ts). */
function storedIn({ stored_bytes }: Item): Pick<Head, 'stored_bytes'> {
  const bytes = Number(stored_bytes?.N ?? UNCOUNTED)
  return bytes < 0 ? {} : { stored_bytes: bytes }
}

function labelsIn(item: Item): Pick<Head, 'labels'> {
  const values = item.labels?.S
  return values === undefined
    ? {}
    : { labels: { version: from.number(item, 'labels_version'), values: JSON.parse(values) } }
}

interface RunSummary {
  readonly summary: Meta & { readonly head: Head }
}

interface Damaged {
  readonly damaged: DamagedRun
}

function mapped<T>(item: Item, name: string, read: (value: AttributeValue) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(from.map(item, name)).map(([key, value]) => [key, read(value)]))
}

/** Oldest first. */
function entriesOf(item: Item): readonly OutboxEntry[] {
  const entries = Object.values(from.map(item, 'outbox')).map(({ S = 'null' }): OutboxEntry => JSON.parse(S))
  return entries.toSorted((a, b) => (`${a.at} ${a.id}` < `${b.at} ${b.id}` ? -1 : 1))
}

/** The count of a block's items that failed for good; absent = none did. */
export function failedName(block: number): string {
  return `failed_${block}`
}

/** Index 2 has one partition a shard, so that many runs can be rescheduled at once. */
export const DUE_SHARDS: readonly string[] = Array.from({ length: 8 }, (_, i) => `DUE#${i}`)

/** The shard of a run, by the last character of its id: those are random. */
export function dueShard(run_id: string): string {
  return DUE_SHARDS[run_id.charCodeAt(run_id.length - 1) % DUE_SHARDS.length] ?? ''
}
