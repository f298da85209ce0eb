import { Fault } from '../../../shared/errors.ts'
import {
  approvalChanges,
  checkAppend,
  endedLanes,
  failsItem,
  isApprovalUnchanged,
  refusesRest,
  runEnding,
} from '../../../shared/runs/append-rules.ts'
import { fitsBudget } from '../../../shared/runs/budget.ts'
import type { Caps } from '../../../shared/runs/caps.ts'
import { RUN_TABLE } from '../../../shared/runs/dynamodb-table.ts'
import { laneKey } from '../../../shared/runs/lane.ts'
import { pausedText } from '../../../shared/runs/pause.ts'
import type { Append, Appended, ApprovalChange, LaneGuard, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { closeInboxEntry } from './approvals.ts'
import { type Layout, readPage, type TailPart, tailName, tailPart } from './event-encoding.ts'
import { eventTexts, findStep, spill } from './event-log.ts'
import { closeFacts } from './facts.ts'
import { failedName, headKey, readHead, type StoredHead, UNCOUNTED } from './head.ts'
import { as, from, headTtl, type Item, itemKey, pageSk } from './item-encoding.ts'
import { itemsPath, laneGuard, lanePath } from './lanes.ts'
import { ledgerChange, shareName } from './ledger.ts'
import { restGuards, restRemovals, restSets } from './resting.ts'
import { writeProjection } from './run-items.ts'
import type { Change, RunTable, Terms } from './table.ts'

/**
 * The one write that moves a run: one conditional update of HEAD (docs/architecture.md, "What an append writes"). A
 * failed condition is explained by HEAD as it is then. An append whose answer was lost on the way is found again by its
 * nonce and answered `ok`; calling again with an append that was taken is `already`. Fault Unavailable store_busy when
 * the tail stayed full for about ten seconds.
 */
export function appendOn(table: RunTable): Pick<RunStore, 'append'> {
  const layouts = knownLayouts()
  return {
    async append(append) {
      checkAppend(append)
      const nonce = table.nonce()
      const texts = eventTexts(append, nonce)
      const writing: Writing = {
        append,
        nonce,
        texts,
        part: tailPart(texts, layouts.of(append.run)),
        check: 'mine',
        caps: undefined,
        resent: false,
        full_at: undefined,
      }
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const done = await tryOnce(table, writing)
        if (done !== undefined) return done
        layouts.note(append.run, writing.part.layout)
        await table.pause(tries)
      }
      throw busy(append)
    },
  }
}

const MAX_TRIES = 50

interface Writing {
  readonly append: Append
  readonly nonce: string
  readonly texts: readonly string[]
  /** In the layout of HEAD, as far as that was seen. */
  part: TailPart
  /** Whose check_at is the earlier, as far as HEAD was seen. */
  check: 'mine' | 'theirs'
  /** The run's caps, as HEAD was seen: an append that raises them says from where. */
  caps: Caps | undefined
  /** The SDK sent one of the tries more than once. */
  resent: boolean
  /** Base of HEAD when the tail was full last. */
  full_at: number | undefined
}

/** undefined: HEAD would take the append, but its tail was full, or another writer was faster; try again. */
async function tryOnce(table: RunTable, writing: Writing): Promise<Appended | undefined> {
  const { append, texts, check, part } = writing
  const { run, events } = append
  const { retention_days } = table
  if (append.raise !== undefined) writing.caps ??= await capsNow(table, append)
  const how = { check, caps: writing.caps, retention_days }
  const written = await table.update(headKey(run), appendChange(append, part, how))
  if (written.ok) return finishAppend(table, append, readHead(written.item))
  writing.resent ||= written.sent > 1
  const item = written.item ?? (await table.get(headKey(run)))
  if (item === undefined) return { ok: false, because: 'unknown_run' }
  const seen = readHead(item)
  const before = await findOwnAppend(table, seen, writing)
  if (before !== undefined) return finishAppend(table, append, seen, before + events.length)
  const because = whyRefused(seen, append)
  if (because !== undefined) return { ok: false, because }
  writing.caps = seen.head.budget
  writing.check = (seen.head.check_at ?? '~') > (append.check_at ?? '') ? 'mine' : 'theirs'
  if (seen.layout !== part.layout) writing.part = tailPart(texts, seen.layout)
  if (seen.waiting >= tailLimit(writing.part)) await makeRoom(table, writing, seen)
  return undefined
}

async function capsNow(table: RunTable, { run }: Append): Promise<Caps> {
  const item = await table.get(headKey(run))
  return item === undefined ? {} : readHead(item).head.budget
}

/** Whoever filled the tail is spilling it; a herd that helps at once would write the same page many times. */
async function makeRoom(table: RunTable, writing: Writing, seen: StoredHead): Promise<void> {
  if (writing.full_at === seen.base) await spill(table, writing.append.run, seen)
  writing.full_at = seen.base
}

function busy({ run, lane }: Append): Fault {
  const message = `Cannot append to lane "${lane}" of run "${run.run_id}": ${MAX_TRIES} tries met a full tail or another writer. Try again.`
  return new Fault('Unavailable', 'store_busy', message)
}

/**
 * Runs of layout 1 that this process met: what began before is written as it was. A first append that takes such a run for
 * a newer one finds no tail of that name and is refused.
 */
function knownLayouts() {
  const first = new Set<string>()
  const keyOf = ({ tenant, run_id }: RunKey) => `${tenant} ${run_id}`
  return {
    of: (run: RunKey): Layout => (first.has(keyOf(run)) ? 1 : 2),
    note(run: RunKey, layout: Layout) {
      if (layout === 2) return
      if (first.size >= KNOWN_RUNS) first.clear()
      first.add(keyOf(run))
    },
  }
}

const KNOWN_RUNS = 1_000

/**
 * How many events may wait in HEAD, to be spilled, when these come: the fewer the larger they are, so that HEAD stays below
 * 32 KB at 1,000 blocks even while nobody manages to spill.
 */
function tailLimit({ layout, bytes }: TailPart): number {
  if (bytes > LARGE_BYTES) return 8
  return layout === 1 || bytes > SMALL_BYTES ? 16 : 32
}

const LARGE_BYTES = 2_048
const SMALL_BYTES = 512

/**
 * The one update of an append, with every guard in its condition (docs/architecture.md, "What an append writes").
 * check_at only moves earlier, and an update cannot take the smaller of two: `check` says which it will be, and the
 * condition that it is.
 */
function appendChange(
  given: Append,
  part: TailPart,
  how: { readonly check: 'mine' | 'theirs'; readonly caps: Caps | undefined; readonly retention_days: number },
): (terms: Terms) => Change {
  const { check, caps } = how
  const { check_at, ...rest } = given
  const append = check === 'mine' ? given : rest
  return (terms) => {
    const ledger = ledgerChange(terms, append, caps)
    const set = [...assignments(terms, append, part), ...ledger.sets, ...ended(terms, append, how)].join(', ')
    const all = [...guards(terms, append, part), ...ledger.guards, ...checkGuard(terms, check_at, check)]
    return {
      update: `SET ${set}${removal(terms, append)}${sums(terms, append, ledger.adds)}`,
      condition: all.join(' AND '),
    }
  }
}

function assignments(terms: Terms, append: Append, { layout, entries }: TailPart): readonly string[] {
  const { path, value } = terms
  const { lane, ordinal, state } = append
  const tail = path(tailName(layout))
  const set = [
    `${tail} = list_append(${tail}, ${value(entries)})`,
    `${path(...lanePath(lane))} = ${value(as.number(ordinal))}`,
    ...noted(terms, append),
  ]
  for (const approval of approvalChanges(append)) {
    const stored = as.map({ status: as.text(approval.set.status), body: as.json(approval.set) })
    set.push(`${path('approvals', approval.id)} = ${value(stored)}`)
  }
  for (const entry of lastOfEachId(append.outbox ?? []))
    set.push(`${path('outbox', entry.id)} = ${value(as.json(entry))}`)
  if (state !== undefined) set.push(`${path('state')} = ${value(as.text(state))}`)
  if (append.stored_bytes !== undefined) {
    const before = `if_not_exists(${path('stored_bytes')}, ${value(as.number(UNCOUNTED))})`
    set.push(`${path('stored_bytes')} = ${before} + ${value(as.number(append.stored_bytes))}`)
  }
  set.push(...restSets(terms, append.rest))
  if (append.pause) set.push(`${path('paused')} = ${value(as.text(pausedText(append.pause)))}`)
  if (append.deadline_at !== undefined) set.push(`${path('deadline_at')} = ${value(as.text(append.deadline_at))}`)
  if (append.check_at !== undefined) set.push(`${path('check_at')} = ${value(as.text(append.check_at))}`)
  return set
}

function ended({ path, value }: Terms, append: Append, how: { readonly retention_days: number }): readonly string[] {
  const ending = runEnding(append)
  return [
    ...(isEnd(append) ? [`${path('ttl')} = ${value(headTtl(append.at, how))}`] : []),
    ...(ending === undefined ? [] : [`${path('ended')} = ${value(as.json(ending))}`]),
  ]
}

function isEnd({ state = 'running' }: Append): boolean {
  return state !== 'running'
}

function noted({ path, value }: Terms, { open_items, module, child }: Append): readonly string[] {
  const set: string[] = []
  if (open_items !== undefined) set.push(`${path(...itemsPath(open_items.block))} = ${value(as.map({}))}`)
  if (module !== undefined) set.push(`${path('modules', module.key)} = ${value(as.json(module.set))}`)
  if (child !== undefined) set.push(`${path('children', child.lane)} = ${value(as.text(child.run_id))}`)
  return set
}

/** A block's items lie in one map: however many there are, one path removes them. */
function removal(terms: Terms, { open_items, drop_items, rest, pause }: Append): string {
  const { path } = terms
  const gone = [...restRemovals(terms, rest), ...(pause === null ? [path('paused')] : [])]
  if (open_items !== undefined) gone.push(path(failedName(open_items.block)))
  else if (drop_items !== undefined) {
    const { block } = drop_items
    const shares = [path(shareName(block, 'tokens')), path(shareName(block, 'usd_micros'))]
    gone.push(path(...itemsPath(block)), path(failedName(block)), ...shares)
  }
  return gone.length === 0 ? '' : ` REMOVE ${gone.join(', ')}`
}

/** Two clauses of one update may not name one path. */
function lastOfEachId<T extends { readonly id: string }>(entries: readonly T[]): Iterable<T> {
  return new Map(entries.map((entry) => [entry.id, entry])).values()
}

/** The running set, the items that failed, and the ledger. */
function sums({ path, value }: Terms, append: Append, ledger: readonly string[]): string {
  const { start, end, item_of } = append
  const starts = start === undefined ? [] : [`${path('running')} ${value(as.member(laneKey(start)))}`]
  const fails = failsItem(append) ? [`${path(failedName(item_of?.block ?? 0))} ${value(as.number(1))}`] : []
  const adds = [...starts, ...fails, ...ledger]
  const added = adds.length === 0 ? '' : ` ADD ${adds.join(', ')}`
  return end === undefined ? added : `${added} DELETE ${path('running')} ${value(as.members(endedLanes(end)))}`
}

function guards(terms: Terms, append: Append, part: TailPart): readonly string[] {
  const { path, value } = terms
  const { start } = append
  const all = [
    `${path('state')} = ${value(as.text('running'))}`,
    `size(${path(tailName(part.layout))}) < ${value(as.number(tailLimit(part)))}`,
    laneGuard(terms, append, part.layout),
    ...itemGuard(terms, append),
    ...(append.while ?? []).map((stands) => laneGuard(terms, { lane: stands.lane, guard: stands }, part.layout)),
    ...approvalChanges(append).map((approval) => approvalGuard(terms, approval)),
  ]
  all.push(...restGuards(terms, append))
  if (start !== undefined && start.limit > 0) {
    const running = path('running')
    all.push(`(attribute_not_exists(${running}) OR size(${running}) < ${value(as.number(start.limit))})`)
  }
  return all
}

/** What was read is written back as the same text: every change of an approval changes it. */
function approvalGuard({ path, value }: Terms, { id, was }: ApprovalChange): string {
  if (was === null) return `attribute_not_exists(${path('approvals', id)})`
  if (was === 'pending') return `${path('approvals', id, 'status')} = ${value(as.text(was))}`
  return `${path('approvals', id, 'body')} = ${value(as.json(was))}`
}

function checkGuard({ path, value }: Terms, check_at: string | undefined, check: 'mine' | 'theirs'): readonly string[] {
  if (check_at === undefined) return []
  const [now, mine] = [path('check_at'), value(as.text(check_at))]
  return check === 'mine' ? [`(attribute_not_exists(${now}) OR ${now} > ${mine})`] : [`${now} <= ${mine}`]
}

function itemGuard({ path, value }: Terms, { item_of }: Append): readonly string[] {
  if (item_of === undefined) return []
  const { block, below, most_failed } = item_of
  const open = [
    `attribute_exists(${path(...itemsPath(block))})`,
    `${path(...lanePath(String(block)))} < ${value(as.number(below))}`,
  ]
  if (most_failed === undefined) return open
  const failed = path(failedName(block))
  return [...open, `(attribute_not_exists(${failed}) OR ${failed} <= ${value(as.number(most_failed))})`]
}

type Because = Extract<Appended, { readonly ok: false }>['because']

/** Why this HEAD refuses the append, in the port's order; undefined when it would take it, were the tail not full. */
function whyRefused(seen: StoredHead, append: Append): Because | undefined {
  const { head } = seen
  const { lane, guard, start } = append
  if (head.state !== 'running') return 'terminal'
  if (!admits(guard, head.lanes[lane]) || !isOpen(seen, append) || !stands(seen, append)) return 'already'
  if (hasTooManyFailed(seen, append)) return 'items_failed'
  if (approvalChanges(append).some(({ id, was }) => !isApprovalUnchanged(head.approvals[id], was))) return 'approval'
  if (refusesRest({ resting: head.resting, works: head.running.length > 0 }, append)) return 'resting'
  if (start !== undefined && start.limit > 0 && head.running.length >= start.limit) return 'full'
  if (append.reserve !== undefined && !fitsBudget(head.budget, append.reserve)) return 'budget'
  if (!fitsShare(seen, append)) return 'share'
  return undefined
}

function hasTooManyFailed(seen: StoredHead, { item_of }: Append): boolean {
  return item_of?.most_failed !== undefined && seen.failed(item_of.block) > item_of.most_failed
}

function fitsShare(seen: StoredHead, { reserve, share }: Append): boolean {
  if (reserve === undefined || share === undefined) return true
  const { tokens, usd_micros } = seen.share(share.block)
  const { cap_tokens = Number.POSITIVE_INFINITY, cap_usd_micros = Number.POSITIVE_INFINITY } = share
  return tokens + reserve.tokens <= cap_tokens && usd_micros + reserve.usd_micros <= cap_usd_micros
}

function stands({ head }: StoredHead, append: Append): boolean {
  return (append.while ?? []).every(({ lane, is }) => (head.lanes[lane] ?? null) === is)
}

function isOpen({ head, open }: StoredHead, { item_of }: Append): boolean {
  if (item_of === undefined) return true
  const block = String(item_of.block)
  return open.has(block) && (head.lanes[block] ?? Number.POSITIVE_INFINITY) < item_of.below
}

function admits(guard: LaneGuard, ordinal: number | undefined): boolean {
  if ('is' in guard) return (ordinal ?? null) === guard.is
  return ordinal === undefined || ordinal < guard.below
}

interface Sought {
  readonly append: Append
  readonly nonce: string
  /** Something was sent more than once: only then can it have been spilled before its writer knew of it. */
  readonly resent: boolean
}

/**
 * The seq before an append that was applied though its answer was lost; undefined when it was not applied, or by somebody
 * else. Looks into the tail and, after a repeat by the SDK, back through the newest pages: a writer learns of its repeat
 * within seconds, so the step is not far.
 */
async function findOwnAppend(
  table: RunTable,
  { head, base, tail }: StoredHead,
  { append, nonce, resent }: Sought,
): Promise<number | undefined> {
  const { lane, ordinal } = append
  // The lane is not there yet: nobody took the step.
  if ((head.lanes[lane] ?? -1) < ordinal) return undefined
  const inTail = findStep(tail(), append)
  if (inTail !== undefined) return inTail.nonce === nonce ? base + inTail.index : undefined
  if (!resent) return undefined
  const inPage = await findInPages(table, append, base)
  return inPage?.nonce === nonce ? inPage.before : undefined
}

const PAGES_A_QUERY = 16
const QUERIES = 4

async function findInPages(table: RunTable, append: Append, base: number) {
  let last = base
  for (let queries = 0; queries < QUERIES && last > 0; queries += 1) {
    const pages = await pagesUpTo(table, append, last)
    for (const page of pages) {
      const found = findStep(readPage(page), append)
      if (found !== undefined) return { before: from.number(page, 'base') + found.index, nonce: found.nonce }
    }
    last = Math.min(last - 1, ...pages.map((page) => from.number(page, 'base')))
  }
  return undefined
}

/** Newest first. */
async function pagesUpTo(table: RunTable, { run }: Append, last: number): Promise<readonly Item[]> {
  const { pk = as.text(''), sk = as.text('') } = itemKey(run, pageSk(last))
  const { items } = await table.query({
    where: ({ path, value }) => ({
      condition: `${path(RUN_TABLE.hash)} = ${value(pk)} AND ${path(RUN_TABLE.range)} BETWEEN ${value(as.text(pageSk(0)))} AND ${value(sk)}`,
    }),
    backwards: true,
    limit: PAGES_A_QUERY,
  })
  return items
}

/**
 * What follows an append that is in HEAD, in any order: the projection, the inbox, and room for those who come after.
 * `seen` is HEAD with the append in it; `seq` that of the append's last event.
 */
async function finishAppend(table: RunTable, append: Append, seen: StoredHead, seq = seen.head.seq): Promise<Appended> {
  const { run, projection } = append
  await Promise.all([
    projection === undefined ? undefined : writeProjection(table, run, projection),
    ...answered(append, seen).map((id) => closeInboxEntry(table, run, id, append.at)),
    needsSpill(append, seen) ? spillIfPossible(table, run, seen) : undefined,
    isEnd(append) ? closeFacts(table, run, seen.head, seen.place) : undefined,
  ])
  return { ok: true, seq }
}

/** The tail is moved out when it has grown to 8 events, and at 24: whoever was to do it may have died. */
const SPILL_AT = 8
const SPILL_AGAIN = 16

/** The questions this append leaves nobody to answer: those it decides, and all of them when it ends the run. */
function answered(append: Append, { head }: StoredHead): readonly string[] {
  const decided = approvalChanges(append).flatMap(({ id, set }) => (set.status === 'pending' ? [] : [id]))
  if ((append.state ?? 'running') === 'running') return decided
  const open = Object.entries(head.approvals).filter(([, { status }]) => status === 'pending')
  return [...decided, ...open.map(([id]) => id)]
}

/** Whoever makes the tail cross a mark spills; the end of the run spills the rest. */
function needsSpill({ events, state = 'running' }: Append, { waiting }: StoredHead): boolean {
  if (state !== 'running') return true
  const marks = (n: number) => Math.max(0, Math.floor((n - SPILL_AT) / SPILL_AGAIN) + 1)
  return marks(waiting) > marks(waiting - events.length)
}

/** The append is in HEAD already: if the table is away now, the next writer makes the room it needs. */
async function spillIfPossible(table: RunTable, run: RunKey, seen: StoredHead): Promise<void> {
  try {
    await spill(table, run, seen)
  } catch (error) {
    if (!(error instanceof Fault && error.name === 'Unavailable')) throw error
  }
}
