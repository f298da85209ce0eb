import type { Amount, RunBudget } from '../../../shared/runs/budget.ts'
import type { Caps } from '../../../shared/runs/caps.ts'
import type { Append, NewRun } from '../../../shared/runs/run-store.ts'
import { as, type Item } from './item-encoding.ts'
import type { Terms } from './table.ts'

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

/** That of a run that ended elsewhere. */
export function adoptedLedger(budget: RunBudget): Item {
  const numbers = UNITS.flatMap((unit) => {
    const cap = budget[`cap_${unit}`]
    return [
      ...(cap === undefined ? [] : [[`cap_${unit}`, cap] as const]),
      [`room_${unit}`, (cap ?? 0) - budget[`committed_${unit}`]] as const,
      [`spent_${unit}`, budget[`spent_${unit}`]] as const,
    ]
  })
  const { unpriced_tokens } = budget
  const unpriced = unpriced_tokens === undefined ? [] : [['unpriced_tokens', unpriced_tokens] as const]
  return Object.fromEntries([...numbers, ...unpriced].map(([name, value]) => [name, as.number(value)]))
}

export function readLedger(item: Item): RunBudget {
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

export function readShare(item: Item, block: number): Amount {
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
