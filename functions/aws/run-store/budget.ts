import type { Amount, RunBudget } from '../../../shared/runs/run-budget.ts'
import type { Append, NewRun } from '../../../shared/runs/run-store.ts'
import { as, type Item } from './attribute-values.ts'
import { shareGuards, shareName } from './share.ts'
import type { Terms } from './terms.ts'

/*
 * The ledger in HEAD. A condition cannot add, so HEAD keeps what is left instead of what is committed: `room` = cap -
 * committed (without a cap: -committed), and a reservation fits when room >= its estimate. ADD counts from 0 where a
 * HEAD has no ledger yet.
 */
const UNITS = ['tokens', 'usd_micros'] as const satisfies readonly (keyof Amount)[]

/** Its part of a new HEAD: nothing where there is no cap. */
export function newLedger(caps: NewRun['caps'] = {}): Item {
  return Object.fromEntries(
    UNITS.flatMap((unit) => {
      const cap = caps[`cap_${unit}`]
      return cap === undefined ? [] : [`cap_${unit}`, `room_${unit}`].map((name) => [name, as.number(cap)] as const)
    }),
  )
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
  }
}

/** What an append reserves and settles: members of its ADD clause, and the guards of a reservation. */
export function ledgerChange(
  { path, value }: Terms,
  { reserve, settle, share, drop_items }: Pick<Append, 'reserve' | 'settle' | 'share' | 'drop_items'>,
): { readonly adds: readonly string[]; readonly guards: readonly string[] } {
  const adds = UNITS.flatMap((unit) => {
    const spent = settle?.spent[unit] ?? 0
    const committed = (reserve?.[unit] ?? 0) + spent - (settle?.reserved[unit] ?? 0)
    const forgotten = share === undefined || share.block === drop_items?.block
    const shared = forgotten ? [] : [[shareName(share.block, unit), committed] as const]
    const moves = [[`room_${unit}`, -committed] as const, [`spent_${unit}`, spent] as const, ...shared]
    return moves.filter(([, by]) => by !== 0).map(([name, by]) => `${path(name)} ${value(as.number(by))}`)
  })
  if (reserve === undefined) return { adds, guards: [] }
  const guards = UNITS.map(
    (unit) =>
      `(attribute_not_exists(${path(`cap_${unit}`)}) OR ${path(`room_${unit}`)} >= ${value(as.number(reserve[unit]))})`,
  )
  return { adds, guards: [...guards, ...shareGuards({ path, value }, reserve, share)] }
}
