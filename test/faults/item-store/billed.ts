import { RUN_TABLE, type TableIndex } from '../../../shared/runs/dynamodb-table.ts'
import { bytesOfMap, sameValue } from './kinds.ts'
import type { Item } from './refusals.ts'

/** What AWS bills for one call: write units with those of the indexes, and read units. */
export interface Billed {
  readonly operation: string
  readonly wcu: number
  readonly rcu: number
}

/** A read unit is 4 KiB read consistently, or twice that otherwise; at least one. */
export function readUnits(bytes: number, consistent: boolean | undefined): number {
  return Math.max(1, Math.ceil(bytes / 4_096)) * (consistent === true ? 1 : 0.5)
}

/** A write unit is 1 KiB of the item before or after, whichever is larger; and the same for each index that changes. */
export function writeUnits(was: Item | undefined, now: Item | undefined): number {
  const own = Math.max(units(was), units(now))
  return RUN_TABLE.indexes.reduce((sum, index) => sum + indexUnits(index, was, now), own)
}

/** An entry that moves is deleted and written. */
function indexUnits(index: TableIndex, was: Item | undefined, now: Item | undefined): number {
  const [before, after] = [entryOf(index, was), entryOf(index, now)]
  if (before === undefined || after === undefined) return before === after ? 0 : Math.max(units(before), units(after))
  const same = (names: readonly string[]) => names.every((name) => isSame(before, after, name))
  if (!same([index.hash, index.range])) return units(before) + units(after)
  return same(index.include) ? 0 : Math.max(units(before), units(after))
}

function isSame(a: Item, b: Item, name: string): boolean {
  return (a[name] === undefined && b[name] === undefined) || sameValue(a[name], b[name])
}

function entryOf({ hash, range, include }: TableIndex, item: Item | undefined): Item | undefined {
  if (item?.[hash] === undefined || item[range] === undefined) return undefined
  const names = [RUN_TABLE.hash, RUN_TABLE.range, hash, range, ...include]
  return Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])))
}

function units(item: Item | undefined): number {
  return item === undefined ? 1 : Math.max(1, Math.ceil(bytesOfMap(item) / 1_024))
}
