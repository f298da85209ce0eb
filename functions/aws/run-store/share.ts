import type { Append } from '../../../shared/runs/append.ts'
import type { Amount } from '../../../shared/runs/run-budget.ts'
import { as, type Item } from './attribute-values.ts'
import type { Terms } from './terms.ts'

const UNITS = ['tokens', 'usd_micros'] as const satisfies readonly (keyof Amount)[]

/** Attribute of HEAD that counts what the items of a block have committed: an ADD takes no path into a map. */
export function shareName(block: number, unit: keyof Amount): string {
  return `share_${block}_${unit}`
}

export function readShare(item: Item, block: number): Amount {
  const number = (unit: keyof Amount): number => Number(item[shareName(block, unit)]?.N ?? 0)
  return { tokens: number('tokens'), usd_micros: number('usd_micros') }
}

/** Of a reservation: what is committed stays under what the items have left. The first one finds no attribute. */
export function shareGuards(
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
