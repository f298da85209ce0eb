import {
  type AttributeValue,
  BatchGetItemCommand,
  type BatchGetItemCommandOutput,
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb'
import { Fault } from '../../../shared/errors.ts'
import { RUN_TABLE } from '../../../shared/runs/table.ts'
import type { Clock, Ids } from '../../../shared/world.ts'
import { as, type Item } from './attribute-values.ts'
import { tableFault } from './table-fault.ts'
import { type TableWrites, writesOf } from './table-writes.ts'
import { createTerms, type Terms } from './terms.ts'
import type { Keeping } from './time-to-live.ts'

/** What the run store of AWS is opened with. The client brings region, credentials and the SDK's own retries. */
export interface RunTableOptions {
  readonly client: Pick<DynamoDBClient, 'send'>
  /** Name of the table; its shape is shared/runs/table.ts. */
  readonly table: string
  readonly clock: Pick<Clock, 'now' | 'delay'>
  readonly ids: Pick<Ids, 'random'>
  /** `safety.retention_days` of the settings; below 91, as when it is absent, it is 91 (time-to-live.ts). */
  readonly retention_days?: number
}

export interface TableQuery {
  /** Without an index the read is consistent. */
  readonly index?: string
  where(terms: Terms): { readonly condition: string; readonly filter?: string }
  readonly backwards?: boolean
  readonly limit?: number
  /** Goes on after this key: the `last` of the page before. */
  readonly after?: Item
}

/** One table through expressions; errors are Faults. Reads are consistent but those of an index, and where said. */
export interface RunTable extends TableWrites, Keeping {
  get(key: Item, how?: Reading): Promise<Item | undefined>
  /** In any order; absent ones are left out. Names a key at most once. */
  getAll(keys: readonly Item[]): Promise<readonly Item[]>
  /** One page, of 1 MB at most; `last` where there may be more. */
  query(query: TableQuery): Promise<{ readonly items: readonly Item[]; readonly last?: Item }>
  /** Every item of one partition whose sort key starts so (empty: every one), or the first so many, by sort key. */
  all(key: Item, limit?: number): Promise<readonly Item[]>
  /** For telling own writes from equal ones: 8 characters, one an append. */
  nonce(): string
  /** Waits before another try, 0 the first: a random part of a time that doubles up to 400 ms. */
  pause(tries: number): Promise<void>
}

interface Reading {
  readonly stale?: true
  /** Attribute paths to answer. */
  readonly only?: readonly (readonly string[])[]
  /** Before them: a part of the projection that was made once. */
  readonly first?: { readonly text: string; readonly terms: Terms }
}

export function openTable(options: RunTableOptions): RunTable {
  const { clock, ids } = options
  const pause = (tries: number) => {
    const [part = 0] = ids.random(1)
    return clock.delay((Math.min(LONGEST_PAUSE_MS, 10 * 2 ** tries) * (part + 1)) / 256)
  }
  const query = (wanted: TableQuery) => runQuery(options, wanted)
  return {
    ...writesOf(options),
    get: (key, how = {}) => getItem(options, key, how),
    getAll: (keys) => getItems(options, pause, keys),
    query,
    all: (key, limit) => queryAll(query, key, limit),
    now: () => clock.now(),
    retention_days: options.retention_days ?? 0,
    nonce: () => Buffer.from(ids.random(6)).toString('base64url'),
    pause,
  }
}

const LONGEST_PAUSE_MS = 400

async function getItem(
  { client, table }: RunTableOptions,
  key: Item,
  { stale, only, first }: Reading,
): Promise<Item | undefined> {
  const terms = createTerms(first?.terms)
  const paths = only?.map((path) => terms.path(...path))
  const parts = first === undefined ? paths : [first.text, ...(paths ?? [])]
  const projection = { ProjectionExpression: parts?.join(', '), ExpressionAttributeNames: terms.names }
  const read = new GetItemCommand({
    TableName: table,
    Key: key,
    ConsistentRead: stale !== true,
    ...(parts === undefined ? {} : projection),
  })
  const { Item } = await client.send(read).catch(failed('GetItem'))
  return Item
}

/** DynamoDB takes 100 keys a call and may leave some unread. */
async function getItems(
  { client, table }: RunTableOptions,
  pause: RunTable['pause'],
  keys: readonly Item[],
): Promise<readonly Item[]> {
  const found: Item[] = []
  let left = [...keys]
  for (let tries = 0; left.length > 0; ) {
    const batch = left.slice(0, MAX_BATCH)
    const read = new BatchGetItemCommand({ RequestItems: { [table]: { Keys: batch, ConsistentRead: true } } })
    const { Responses, UnprocessedKeys }: BatchGetItemCommandOutput = await client
      .send(read)
      .catch(failed('BatchGetItem'))
    found.push(...(Responses?.[table] ?? []))
    const unread = UnprocessedKeys?.[table]?.Keys ?? []
    left = [...unread, ...left.slice(MAX_BATCH)]
    if (unread.length === 0) continue
    if (tries === MAX_BATCH_TRIES) {
      const message = `Cannot read ${left.length} of ${keys.length} items: the table left them unread ${tries} times. Try again.`
      throw new Fault('Unavailable', 'aws_throttled', message)
    }
    await pause(tries)
    tries += 1
  }
  return found
}

const MAX_BATCH = 100
const MAX_BATCH_TRIES = 8

async function runQuery({ client, table }: RunTableOptions, wanted: TableQuery) {
  const terms = createTerms()
  const { condition, filter } = wanted.where(terms)
  const read = new QueryCommand({
    TableName: table,
    ...(wanted.index === undefined ? { ConsistentRead: true } : { IndexName: wanted.index }),
    KeyConditionExpression: condition,
    FilterExpression: filter,
    ExpressionAttributeNames: terms.names,
    ExpressionAttributeValues: terms.values,
    ScanIndexForward: wanted.backwards !== true,
    Limit: wanted.limit,
    ExclusiveStartKey: wanted.after,
  })
  const { Items = [], LastEvaluatedKey: last } = await client.send(read).catch(failed('Query'))
  return { items: Items, ...(last === undefined ? {} : { last }) }
}

async function queryAll(query: RunTable['query'], { pk, sk }: Item, limit = Infinity): Promise<readonly Item[]> {
  const found: Item[] = []
  let after: Item | undefined
  do {
    const page = await query({
      where: (terms) => ({ condition: partitionFrom(terms, pk ?? as.text(''), sk?.S ?? '') }),
      ...(after === undefined ? {} : { after }),
      ...(limit === Infinity ? {} : { limit: limit - found.length }),
    })
    found.push(...page.items)
    after = page.last
  } while (after !== undefined && found.length < limit)
  return found
}

/** A key condition with an empty text is a ValidationException: a whole partition is asked for by its own key alone. */
function partitionFrom(terms: Terms, pk: AttributeValue, prefix: string): string {
  const whole = `${terms.path(RUN_TABLE.hash)} = ${terms.value(pk)}`
  if (prefix === '') return whole
  return `${whole} AND begins_with(${terms.path(RUN_TABLE.range)}, ${terms.value(as.text(prefix))})`
}

const failed =
  (operation: string) =>
  (thrown: unknown): never => {
    throw tableFault(thrown, operation)
  }
