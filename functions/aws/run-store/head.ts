import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Amount, RunBudget } from '../../../shared/runs/budget.ts'
import type { Head, HeadApproval, HeadModule, OutboxEntry, RunState } from '../../../shared/runs/head.ts'
import { byLane, laneOwner } from '../../../shared/runs/lane.ts'
import type { Append, DamagedRun, Meta, NewRun, RunKey } from '../../../shared/runs/run-store.ts'
import type { Caps } from '../../../shared/runs/safety.ts'
import { as, from, type Item, itemKey } from './items.ts'
import type { Terms } from './table.ts'

/** Where the bytes of a run begin that was there before they were counted: so low that the sum stays below zero. */
export const UNCOUNTED = -(10 ** 14)

/** HEAD with what only the store sees of it: the events since `base`, and the hash of event `base`. */
export interface StoredHead {
  readonly head: Head
  readonly base: number
  readonly base_hash: string
  /** JSON texts of the events base+1, base+2, .. */
  readonly tail: readonly string[]
  /** Indexes of the foreach blocks whose items are open. */
  readonly open: ReadonlySet<string>
  /** What the items of a foreach block have committed together. */
  share(block: number): Amount
}

export function headKey(run: RunKey): Item {
  return itemKey(run, 'HEAD')
}

/** Reads HEAD, or the part of it a projection left: lanes and such that were not asked for are empty. */
export function readHead(item: Item): StoredHead {
  const base = from.number(item, 'base')
  const tail = from.list(item, 'tail')
  const check_at = item.check_at?.S
  const head: Head = {
    // Our own word, written by `newHead` and the append.
    state: from.text(item, 'state') as RunState,
    seq: base + tail.length,
    lanes: { ...mapped(item, 'lanes', ({ N }) => Number(N)), ...itemLanes(item) },
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
  }
  return {
    head,
    base,
    base_hash: from.text(item, 'base_hash'),
    tail,
    open: new Set(Object.keys(from.map(item, 'items'))),
    share: (block) => readShare(item, block),
  }
}

/** An item that somebody changed or removed by hand hides no other run. */
export function readRun({ run_id }: RunKey, meta: Item | undefined, head: Item): RunSummary | Damaged {
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

interface RunSummary {
  readonly summary: Meta & { readonly head: Head }
}

interface Damaged {
  readonly damaged: DamagedRun
}

function itemLanes(item: Item): Head['lanes'] {
  const blocks = Object.entries(from.map(item, 'items'))
  const lanes = blocks.flatMap(([block, { M = {} }]) =>
    Object.entries(M).map(([i, { N }]) => [`${block}.${i}`, Number(N)] as const),
  )
  return Object.fromEntries(lanes)
}

function mapped<T>(item: Item, name: string, read: (value: AttributeValue) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(from.map(item, name)).map(([key, value]) => [key, read(value)]))
}

/** Oldest first. */
function entriesOf(item: Item): readonly OutboxEntry[] {
  const entries = Object.values(from.map(item, 'outbox')).map(({ S = 'null' }): OutboxEntry => JSON.parse(S))
  return entries.toSorted((a, b) => (`${a.at} ${a.id}` < `${b.at} ${b.id}` ? -1 : 1))
}

/** Where HEAD keeps a lane: `lanes.<lane>`; of a foreach item `items.<block>.<i>`. */
export function lanePath(lane: string): readonly string[] {
  const { block, item } = laneOwner(lane) ?? {}
  return block === undefined || item === undefined ? ['lanes', lane] : [...itemsPath(block), String(item)]
}

/** The map of a block's item lanes: there from `open_items` to `drop_items`. */
export function itemsPath(block: number): readonly string[] {
  return ['items', String(block)]
}

/*
 * The ledger in HEAD. A condition cannot add, so HEAD keeps what is left instead of what is committed: `room` = cap -
 * committed (without a cap: -committed), and a reservation fits when room >= its estimate. ADD counts from 0 where a
 * HEAD has no ledger yet.
 */
const UNITS = ['tokens', 'usd_micros'] as const satisfies readonly (keyof Amount)[]

/** Its part of a new HEAD: what is without a price is counted from the start, caps only where there are any. */
export function newLedger(caps: NewRun['caps'] = {}): Item {
  const room = UNITS.flatMap((unit) => {
    const cap = caps[`cap_${unit}`]
    return cap === undefined ? [] : [`cap_${unit}`, `room_${unit}`].map((name) => [name, as.number(cap)] as const)
  })
  return { unpriced_tokens: as.number(0), ...Object.fromEntries(room) }
}

function readLedger(item: Item): RunBudget {
  const number = (name: string): number => Number(item[name]?.N ?? 0)
  const caps = UNITS.filter((unit) => item[`cap_${unit}`] !== undefined)
  return {
    ...Object.fromEntries(caps.map((unit) => [`cap_${unit}`, number(`cap_${unit}`)])),
    committed_tokens: number('cap_tokens') - number('room_tokens'),
    committed_usd_micros: number('cap_usd_micros') - number('room_usd_micros'),
    spent_tokens: number('spent_tokens'),
    spent_usd_micros: number('spent_usd_micros'),
    ...(item.unpriced_tokens === undefined ? {} : { unpriced_tokens: number('unpriced_tokens') }),
  }
}

type LedgerAppend = Pick<Append, 'reserve' | 'settle' | 'share' | 'drop_items' | 'raise'>

interface LedgerChange {
  readonly sets: readonly string[]
  readonly adds: readonly string[]
  readonly guards: readonly string[]
}

/**
 * What an append reserves, settles and raises: members of its SET and ADD clauses, and the guards of a reservation. A cap
 * is raised from what it was seen to be (`caps`), and the condition says that it still is.
 */
export function ledgerChange(terms: Terms, append: LedgerAppend, caps: Caps = {}): LedgerChange {
  const { path, value } = terms
  const { reserve, settle, share, drop_items } = append
  const raises = raisesOf(append, caps)
  const unpriced = settle?.spent.unpriced_tokens ?? 0
  const moved = UNITS.flatMap((unit) => {
    const spent = settle?.spent[unit] ?? 0
    const committed = (reserve?.[unit] ?? 0) + spent - (settle?.reserved[unit] ?? 0)
    const room = (raises.find((raise) => raise.unit === unit)?.by ?? 0) - committed
    const forgotten = share === undefined || share.block === drop_items?.block
    const shared = forgotten ? [] : [[shareName(share.block, unit), committed] as const]
    return [[`room_${unit}`, room] as const, [`spent_${unit}`, spent] as const, ...shared]
  })
  const adds = [...moved, ['unpriced_tokens', unpriced] as const]
    .filter(([, by]) => by !== 0)
    .map(([name, by]) => `${path(name)} ${value(as.number(by))}`)
  const sets = raises.map(({ unit, to }) => `${path(`cap_${unit}`)} = ${value(as.number(to))}`)
  const raised = raises.map(({ unit, was }) => `${path(`cap_${unit}`)} = ${value(as.number(was))}`)
  return { sets, adds, guards: [...raised, ...(reserve === undefined ? [] : roomGuards(terms, reserve, share))] }
}

/** Of a cap that is there and lower: caps never fall, so another one needs no guard. */
function raisesOf({ raise }: LedgerAppend, caps: Caps) {
  return UNITS.flatMap((unit) => {
    const [to, was] = [raise?.[unit], caps[`cap_${unit}`]]
    return to === undefined || was === undefined || was >= to ? [] : [{ unit, to, was, by: to - was }]
  })
}

function roomGuards({ path, value }: Terms, reserve: Amount, share: Append['share']): readonly string[] {
  const guards = UNITS.map(
    (unit) =>
      `(attribute_not_exists(${path(`cap_${unit}`)}) OR ${path(`room_${unit}`)} >= ${value(as.number(reserve[unit]))})`,
  )
  return [...guards, ...shareGuards({ path, value }, reserve, share)]
}

/** Attribute of HEAD that counts what the items of a block have committed: an ADD takes no path into a map. */
export function shareName(block: number, unit: keyof Amount): string {
  return `share_${block}_${unit}`
}

function readShare(item: Item, block: number): Amount {
  const number = (unit: keyof Amount): number => Number(item[shareName(block, unit)]?.N ?? 0)
  return { tokens: number('tokens'), usd_micros: number('usd_micros') }
}

/** Of a reservation: what is committed stays under what the items have left. The first one finds no attribute. */
function shareGuards(
  { path, value }: Pick<Terms, 'path' | 'value'>,
  reserve: Amount,
  share: Append['share'],
): readonly string[] {
  return UNITS.flatMap((unit) => {
    const cap = share?.[`cap_${unit}`]
    if (share === undefined || cap === undefined) return []
    const now = path(shareName(share.block, unit))
    const fits = `${now} <= ${value(as.number(cap - reserve[unit]))}`
    return [reserve[unit] > cap ? fits : `(attribute_not_exists(${now}) OR ${fits})`]
  })
}

/** Index 2 has one partition a shard, so that many runs can be rescheduled at once. */
export const DUE_SHARDS: readonly string[] = Array.from({ length: 8 }, (_, i) => `DUE#${i}`)

/** The shard of a run, by the last character of its id: those are random. */
export function dueShard(run_id: string): string {
  return DUE_SHARDS[run_id.charCodeAt(run_id.length - 1) % DUE_SHARDS.length] ?? ''
}
