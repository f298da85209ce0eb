import { RUN_TABLE, type TableIndex } from '../../../shared/runs/dynamodb-table.ts'
import { bytesOfMap } from './kinds.ts'
import { compareText } from './order.ts'
import { type Item, invalid } from './refusals.ts'

/** One item under its keys: in the table, or in an index, where `hash` and `range` are the index's. */
export interface Row {
  readonly hash: string
  readonly range: string
  readonly pk: string
  readonly sk: string
  readonly item: Item
}

/** The items of a table and its indexes, each partition in order of its sort key. Indexes are never behind. */
export interface Rows {
  get(pk: string, sk: string): Item | undefined
  put(item: Item): void
  remove(pk: string, sk: string): void
  /** One partition in order; of an index with the name. */
  partition(hash: string, index?: string): readonly Row[]
  /** Every item, by partition and sort key. */
  all(): readonly Item[]
}

export function createRows(): Rows {
  const table: Partitions = new Map()
  const indexes = new Map(RUN_TABLE.indexes.map((index) => [index.name, new Map() as Partitions]))
  const get = (pk: string, sk: string) => find(table.get(pk) ?? [], { range: sk, pk, sk }).row?.item
  return {
    get,
    put(item) {
      const { pk, sk } = keyOf(item)
      const was = get(pk, sk)
      insert(table, { hash: pk, range: sk, pk, sk, item })
      for (const index of RUN_TABLE.indexes) {
        const rows: Partitions = indexes.get(index.name) ?? new Map()
        move(rows, was && indexRow(index, was), indexRow(index, item))
      }
    },
    remove(pk, sk) {
      const was = get(pk, sk)
      if (was === undefined) return
      move(table, { hash: pk, range: sk, pk, sk, item: was }, undefined)
      for (const index of RUN_TABLE.indexes) move(indexes.get(index.name) ?? new Map(), indexRow(index, was), undefined)
    },
    partition: (hash, index) => (index === undefined ? table : indexes.get(index))?.get(hash) ?? [],
    all: () =>
      [...table.keys()].toSorted(compareText).flatMap((hash) => (table.get(hash) ?? []).map(({ item }) => item)),
  }
}

/** The key of an item, checked as DynamoDB checks it. */
export function keyOf(item: Item): { readonly pk: string; readonly sk: string } {
  return { pk: keyText(item, RUN_TABLE.hash, 2_048), sk: keyText(item, RUN_TABLE.range, 1_024) }
}

/** Checks what every written item must be: keys of the table and of its indexes are texts, its size has a limit. */
export function requireStorable(item: Item, tooLarge: string): void {
  keyOf(item)
  for (const { hash, range } of RUN_TABLE.indexes) {
    for (const name of [hash, range]) if (item[name] !== undefined) keyText(item, name, 2_048)
  }
  if (bytesOfMap(item) > MAX_BYTES) throw invalid(tooLarge)
}

const MAX_BYTES = 400 * 1_024

type Partitions = Map<string, Row[]>

function keyText(item: Item, name: string, limit: number): string {
  const value = item[name]
  if (value === undefined) {
    throw invalid(`One or more parameter values were invalid: Missing the key ${name} in the item`)
  }
  if (value.S === undefined) {
    throw invalid(`One or more parameter values were invalid: Type mismatch for key ${name} expected: S`)
  }
  if (value.S === '') {
    const message = `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`
    throw invalid(message)
  }
  if (value.S.length > limit / 3 && Buffer.byteLength(value.S) > limit) {
    throw invalid(`One or more parameter values were invalid: Size of key ${name} has exceeded ${limit} bytes`)
  }
  return value.S
}

/** Sparse: an item without both keys is not in the index. */
function indexRow({ hash, range }: TableIndex, item: Item): Row | undefined {
  const [first, second] = [item[hash]?.S, item[range]?.S]
  return first === undefined || second === undefined ? undefined : { hash: first, range: second, ...keyOf(item), item }
}

function move(rows: Partitions, was: Row | undefined, now: Row | undefined): void {
  if (was !== undefined && (now === undefined || was.hash !== now.hash || was.range !== now.range)) {
    const partition = rows.get(was.hash) ?? []
    const { at, row } = find(partition, was)
    if (row !== undefined) partition.splice(at, 1)
    if (partition.length === 0) rows.delete(was.hash)
  }
  if (now !== undefined) insert(rows, now)
}

function insert(rows: Partitions, row: Row): void {
  const partition = rows.get(row.hash)
  if (partition === undefined) {
    rows.set(row.hash, [row])
    return
  }
  const { at, row: there } = find(partition, row)
  partition.splice(at, there === undefined ? 0 : 1, row)
}

function find(partition: readonly Row[], wanted: Pick<Row, 'range' | 'pk' | 'sk'>) {
  const at = firstWhere(partition, (row) => compareRows(row, wanted) >= 0)
  const row = partition[at]
  return { at, row: row !== undefined && compareRows(row, wanted) === 0 ? row : undefined }
}

/** The first place from which the test holds, of rows where it holds from some place on. */
export function firstWhere(rows: readonly Row[], holds: (row: Row) => boolean): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const row = rows[middle]
    if (row !== undefined && holds(row)) high = middle
    else low = middle + 1
  }
  return low
}

/** Of one partition; rows of an index with one sort key lie in the order of their own keys. */
export function compareRows(a: Pick<Row, 'range' | 'pk' | 'sk'>, b: Pick<Row, 'range' | 'pk' | 'sk'>): number {
  return compareText(a.range, b.range) || compareText(a.pk, b.pk) || compareText(a.sk, b.sk)
}
