import type { Append } from '../../../shared/runs/append.ts'
import { endedLanes } from '../../../shared/runs/ended-lanes.ts'
import { endingOf } from '../../../shared/runs/ending-of.ts'
import { laneKey } from '../../../shared/runs/lane-key.ts'
import type { Caps } from '../../../shared/runs/run-caps.ts'
import { as } from './attribute-values.ts'
import { ledgerChange } from './budget.ts'
import { UNCOUNTED } from './head-item.ts'
import { itemsPath, lanePath } from './lane-path.ts'
import { shareName } from './share.ts'
import type { Change } from './table-writes.ts'
import type { Terms } from './terms.ts'
import { keepHead } from './time-to-live.ts'

/**
 * How many events may wait in HEAD, to be spilled, when these come: fewer than 16; than 8 for an append of more than
 * 2 KiB, so that HEAD stays below 32 KB at 1,000 blocks even while nobody manages to spill.
 */
export function tailLimit(texts: readonly string[]): number {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return bytes > LARGE_BYTES ? 8 : 16
}

const LARGE_BYTES = 2_048

/**
 * The one update of an append, with every guard in its condition (docs/architecture.md, "What an append writes").
 * check_at only moves earlier, and an update cannot take the smaller of two: `check` says which it will be, and the
 * condition that it is.
 */
export function appendChange(
  given: Append,
  texts: readonly string[],
  how: { readonly check: 'mine' | 'theirs'; readonly caps: Caps | undefined; readonly retention_days: number },
): (terms: Terms) => Change {
  const { check, caps } = how
  const { check_at, ...rest } = given
  const append = check === 'mine' ? given : rest
  return (terms) => {
    const ledger = ledgerChange(terms, append, caps)
    const set = [...assignments(terms, append, texts), ...ledger.sets, ...ended(terms, append, how)].join(', ')
    const all = [...guards(terms, append, tailLimit(texts)), ...ledger.guards, ...checkGuard(terms, check_at, check)]
    return {
      update: `SET ${set}${removal(terms, append)}${sums(terms, append, ledger.adds)}`,
      condition: all.join(' AND '),
    }
  }
}

function assignments(terms: Terms, append: Append, texts: readonly string[]): readonly string[] {
  const { path, value } = terms
  const { lane, ordinal, approval, state } = append
  const set = [
    `${path('tail')} = list_append(${path('tail')}, ${value(as.list(texts))})`,
    `${path(...lanePath(lane))} = ${value(as.number(ordinal))}`,
    ...noted(terms, append),
  ]
  if (approval !== undefined) {
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
  if (append.deadline_at !== undefined) set.push(`${path('deadline_at')} = ${value(as.text(append.deadline_at))}`)
  if (append.check_at !== undefined) set.push(`${path('check_at')} = ${value(as.text(append.check_at))}`)
  return set
}

function ended({ path, value }: Terms, append: Append, how: { readonly retention_days: number }): readonly string[] {
  const ending = endingOf(append)
  return [
    ...(isEnd(append) ? [`${path('ttl')} = ${value(keepHead(append.at, how))}`] : []),
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
function removal({ path }: Terms, { drop_items }: Append): string {
  if (drop_items === undefined) return ''
  const { block } = drop_items
  const shares = [path(shareName(block, 'tokens')), path(shareName(block, 'usd_micros'))]
  return ` REMOVE ${[path(...itemsPath(block)), ...shares].join(', ')}`
}

/** Two clauses of one update may not name one path. */
function lastOfEachId<T extends { readonly id: string }>(entries: readonly T[]): Iterable<T> {
  return new Map(entries.map((entry) => [entry.id, entry])).values()
}

/** The running set and the ledger. */
function sums({ path, value }: Terms, { start, end }: Append, ledger: readonly string[]): string {
  const starts = start === undefined ? [] : [`${path('running')} ${value(as.member(laneKey(start)))}`]
  const adds = [...starts, ...ledger]
  const added = adds.length === 0 ? '' : ` ADD ${adds.join(', ')}`
  return end === undefined ? added : `${added} DELETE ${path('running')} ${value(as.members(endedLanes(end)))}`
}

function guards(terms: Terms, append: Append, limit: number): readonly string[] {
  const { path, value } = terms
  const { approval, start } = append
  const all = [
    `${path('state')} = ${value(as.text('running'))}`,
    `size(${path('tail')}) < ${value(as.number(limit))}`,
    laneGuard(terms, append),
    ...itemGuard(terms, append),
    ...(append.while ?? []).map((stands) => laneGuard(terms, { lane: stands.lane, guard: stands })),
  ]
  if (approval !== undefined) all.push(approvalGuard(terms, approval))
  if (start !== undefined && start.limit > 0) {
    const running = path('running')
    all.push(`(attribute_not_exists(${running}) OR size(${running}) < ${value(as.number(start.limit))})`)
  }
  return all
}

/** What was read is written back as the same text: every change of an approval changes it. */
function approvalGuard({ path, value }: Terms, { id, was }: NonNullable<Append['approval']>): string {
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
  const { block, below } = item_of
  return [
    `attribute_exists(${path(...itemsPath(block))})`,
    `${path(...lanePath(String(block)))} < ${value(as.number(below))}`,
  ]
}

function laneGuard({ path, value }: Terms, { lane, guard }: Pick<Append, 'lane' | 'guard'>): string {
  const now = path(...lanePath(lane))
  if ('below' in guard) {
    return `(attribute_not_exists(${now}) OR ${now} < ${value(as.number(guard.below))})`
  }
  return guard.is === null ? `attribute_not_exists(${now})` : `${now} = ${value(as.number(guard.is))}`
}
