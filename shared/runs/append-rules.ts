import { Fault } from '../errors.ts'
import type { Spent } from './budget.ts'
import type { EventData } from './event.ts'
import { isRunEnd } from './event-types.ts'
import type { HeadApproval, Rest, RunEnding } from './head.ts'
import { laneKey, laneOwner, readOrdinal } from './lane.ts'
import type { Append, ApprovalChange, RestChange } from './run-store.ts'

/**
 * A lane that could go back would give two events one id; running is one set, so one append moves it one way; an item's
 * lane is there only while its block's items are open, which every append to it must ask.
 */
export function checkAppend(append: Append): void {
  const { lane, ordinal, guard, start, end } = append
  const open = 'is' in guard ? (guard.is ?? -1) >= ordinal : guard.below > ordinal
  if (open) {
    const message = `Cannot append to lane "${lane}": its guard ${JSON.stringify(guard)} would let the lane go back to ${ordinal}. A guard admits only smaller ordinals.`
    throw new Fault('Bug', 'append_backwards', message)
  }
  if (start !== undefined && end !== undefined) {
    const message = `Cannot append to lane "${lane}": it starts lane ${laneKey(start)} and ends lane ${laneKey(end)}; an append does one of the two.`
    throw new Fault('Bug', 'append_start_and_end', message)
  }
  requireAmounts(append)
  requireItemLane(append)
}

/** A ledger of parts of tokens, or one that a negative estimate makes room in, would be no ledger. */
function requireAmounts({ lane, reserve, settle }: Append): void {
  const given: readonly (Spent | undefined)[] = [reserve, settle?.reserved, settle?.spent]
  const amounts = given.flatMap((one) => (one === undefined ? [] : [one]))
  const wrong = amounts
    .flatMap(({ tokens, usd_micros, unpriced_tokens = 0 }) => [tokens, usd_micros, unpriced_tokens])
    .find((n) => !(Number.isSafeInteger(n) && n >= 0))
  if (wrong === undefined) return
  const message = `Cannot append to lane "${lane}": it reserves or settles ${wrong}. Amounts are whole numbers of tokens and of millionths of a dollar, from 0 on.`
  throw new Fault('Bug', 'append_amount', message)
}

function requireItemLane({ lane, item_of, open_items, drop_items }: Append): void {
  const { block, item } = laneOwner(lane) ?? {}
  const fits = item === undefined ? item_of === undefined : item_of?.block === block
  const whole = open_items ?? drop_items
  const both = open_items !== undefined && drop_items !== undefined
  if (fits && !both && (whole === undefined || (item === undefined && whole.block === block))) return
  const message = `Cannot append to lane "${lane}": a lane of a foreach item ("3.12") needs item_of with its block, no other lane has it; open_items or drop_items belong to an append of the block's own lane.`
  throw new Fault('Bug', 'append_item_lane', message)
}

/** Whether it ends an item for good without its outputs: what `item_of.most_failed` counts. */
export function failsItem({ item_of, ordinal }: Pick<Append, 'item_of' | 'ordinal'>): boolean {
  return item_of !== undefined && readOrdinal(ordinal).outcome === 'failed'
}

/** Whether an approval is as the writer of an append says that it was. */
export function isApprovalUnchanged(now: HeadApproval | undefined, was: ApprovalChange['was']): boolean {
  if (was === null) return now === undefined
  if (now === undefined) return false
  return was === 'pending' ? now.status === was : JSON.stringify(now) === JSON.stringify(was)
}

/** Whether a run that stands so refuses this: nothing starts while it rests, and it does not rest while something works. */
export function refusesRest(
  now: { readonly resting: Rest | undefined; readonly works: boolean },
  { rest, start }: Pick<Append, 'rest' | 'start'>,
): boolean {
  if (start !== undefined && now.resting !== undefined) return true
  if (rest === undefined) return false
  return !isSameRest(now.resting, rest.was) || (beginsRest(rest) && now.works)
}

export function beginsRest({ was, set }: RestChange): boolean {
  return was === null && set !== null
}

function isSameRest(a: Rest | undefined, b: Rest | null): boolean {
  return restText(a ?? null) === restText(b)
}

/** As the stores keep it: they compare texts. */
export function restText(rest: Rest): string
export function restText(rest: Rest | null): string | null
export function restText(rest: Rest | null): string | null {
  if (rest === null) return null
  const { since, wants_at } = rest
  return JSON.stringify({ since, ...(wants_at === undefined ? {} : { wants_at }) })
}

/** All approvals an append sets. */
export function approvalChanges({
  approval,
  further_approvals = [],
}: Pick<Append, 'approval' | 'further_approvals'>): readonly ApprovalChange[] {
  return approval === undefined ? further_approvals : [approval, ...further_approvals]
}

/** The lanes an append ends: the block's, or one item's; with `items`, those of its first so many items too, or of these. */
export function endedLanes({ items = 0, ...owner }: NonNullable<Append['end']>): readonly string[] {
  const { block } = owner
  const also = typeof items === 'number' ? Array.from({ length: items }, (_, item) => item) : items
  return [laneKey(owner), ...also.map((item) => laneKey({ block, item }))]
}

/** How an append ends its run, if it does: its last event says when and why. */
export function runEnding({ at, events }: Pick<Append, 'at' | 'events'>): RunEnding | undefined {
  const end = events.at(-1)
  if (end === undefined || !isRunEnd(end.type)) return undefined
  // The ends of a run all say the same things.
  const { code, reason } = end.data as EventData<'run:completed'>
  return { at, code, reason }
}
