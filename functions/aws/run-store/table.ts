import {
  type AttributeValue,
  BatchGetItemCommand,
  type BatchGetItemCommandOutput,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { Fault } from '../../../shared/errors.ts'
import type { Clock, Ids } from '../../../shared/ports/host.ts'
import { RUN_TABLE } from '../../../shared/runs/dynamodb-table.ts'
import { type Core, requiredVariable } from '../core.ts'
import { CLIENT_OPTIONS, sdkFault } from '../sdk.ts'
import { as, type Item, type Keeping } from './item-encoding.ts'

/** What the run store of AWS is opened with. The client brings region, credentials and the SDK's own retries. */
export interface RunTableOptions {
  readonly client: Pick<DynamoDBClient, 'send'>
  /** Name of the table; its shape is shared/runs/dynamodb-table.ts. */
  readonly table: string
  readonly clock: Pick<Clock, 'now' | 'delay'>
  readonly ids: Pick<Ids, 'random'>
  /** `safety.retention_days` of the settings; below 91, as when it is absent, it is 91 (item-encoding.ts). */
  readonly retention_days?: number
  /** So many leases of a pool share an item; absent = 32 (leases.ts). */
  readonly leases_an_item?: number
}

interface TableQuery {
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
  /** So many leases of a pool share an item. */
  readonly leases_an_item: number
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
    ...tableWrites(options),
    get: (key, how = {}) => getItem(options, key, how),
    getAll: (keys) => getItems(options, pause, keys),
    query,
    all: (key, limit) => queryAll(query, key, limit),
    now: () => clock.now(),
    retention_days: options.retention_days ?? 0,
    leases_an_item: options.leases_an_item ?? LEASES_AN_ITEM,
    nonce: () => Buffer.from(ids.random(6)).toString('base64url'),
    pause,
  }
}

const LONGEST_PAUSE_MS = 400

/** 2 KB of run ids: taking one costs two write units and giving it back two, however large the pool is. */
const LEASES_AN_ITEM = 32

async function getItem(
  { client, table }: RunTableOptions,
  key: Item,
  { stale, only, first }: Reading,
): Promise<Item | undefined> {
  const terms = createExpressionTerms(first?.terms)
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
  const terms = createExpressionTerms()
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

export interface Change {
  readonly update: string
  readonly condition?: string
}

/**
 * What a conditional write came to. `item`: the whole item after it; or, where the condition failed, as it was (DynamoDB
 * answers it with the refusal; dynalite does not). `sent`: how often the SDK sent it: past 1 an earlier sending may have
 * been applied although its answer was lost.
 */
type Written =
  | { readonly ok: true; readonly item: Item }
  | { readonly ok: false; readonly item: Item | undefined; readonly sent: number }

interface TableWrites {
  /** The whole item; `unless` continues a condition. */
  put(item: Item, unless?: (terms: Terms) => string): Promise<Written>
  update(key: Item, change: (terms: Terms) => Change): Promise<Written>
  /** Whether or not it is there. */
  remove(key: Item): Promise<void>
}

interface Target {
  readonly client: Pick<DynamoDBClient, 'send'>
  readonly table: string
}

function tableWrites({ client, table }: Target): TableWrites {
  return {
    async put(item, condition) {
      const terms = createExpressionTerms()
      const put = new PutItemCommand({
        TableName: table,
        Item: item,
        ...(condition === undefined ? {} : { ConditionExpression: condition(terms), ...REFUSED }),
        ...used(terms),
      })
      return written(
        'PutItem',
        client.send(put).then(() => ({ ok: true, item })),
      )
    },
    async update(key, change) {
      const terms = createExpressionTerms()
      const { update, condition } = change(terms)
      const command = new UpdateItemCommand({
        TableName: table,
        Key: key,
        UpdateExpression: update,
        ...(condition === undefined ? {} : { ConditionExpression: condition, ...REFUSED }),
        ...used(terms),
        ReturnValues: 'ALL_NEW',
      })
      return written(
        'UpdateItem',
        client.send(command).then(({ Attributes = {} }) => ({ ok: true, item: Attributes })),
      )
    },
    async remove(key) {
      const remove = new DeleteItemCommand({ TableName: table, Key: key })
      await written(
        'DeleteItem',
        client.send(remove).then(() => ({ ok: true, item: key })),
      )
    },
  }
}

/** The condition of an item that is written once. */
export function ifAbsent(terms: Terms): string {
  return `attribute_not_exists(${terms.path(RUN_TABLE.hash)})`
}

const REFUSED = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const

/** DynamoDB refuses empty maps of names and values. */
function used({ names, values }: Terms) {
  return {
    ...(Object.keys(names).length === 0 ? {} : { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: values }),
  }
}

async function written(operation: string, answer: Promise<Written>): Promise<Written> {
  try {
    return await answer
  } catch (cause) {
    if (!(cause instanceof ConditionalCheckFailedException)) throw tableFault(cause, operation)
    return { ok: false, item: cause.Item, sent: cause.$metadata.attempts ?? 1 }
  }
}

/** The names and values of one request's expressions. */
export interface Terms {
  /** Placeholder of an attribute, or of one inside maps: `#0`, `#0.#1`. Every name is aliased: many are reserved words. */
  path(...attributes: readonly string[]): string
  /** Placeholder of a value: `:0`. */
  value(value: AttributeValue): string
  readonly names: Record<string, string>
  /** Placeholders by name. */
  readonly aliases: ReadonlyMap<string, string>
  readonly values: Record<string, AttributeValue>
}

/** `first`: terms of a part that every such request begins with, aliased once; what they name is not copied or changed. */
export function createExpressionTerms(first?: Pick<Terms, 'names' | 'aliases'>): Terms {
  const aliases = new Map<string, string>()
  const names: Record<string, string> = { ...first?.names }
  const before = first?.aliases.size ?? 0
  const values: Record<string, AttributeValue> = {}
  let used = 0
  const alias = (name: string): string => {
    const known = first?.aliases.get(name) ?? aliases.get(name)
    if (known !== undefined) return known
    const made = `#${before + aliases.size}`
    aliases.set(name, made)
    names[made] = name
    return made
  }
  return {
    path: (...attributes) => (attributes.length === 1 ? alias(attributes[0] ?? '') : attributes.map(alias).join('.')),
    value: (value) => {
      const made = `:${used}`
      used += 1
      values[made] = value
      return made
    },
    names,
    aliases,
    values,
  }
}

/** Fault Unavailable store_busy: other writers were always faster. */
export function itemBusyFault(doing: string, tries: number): Fault {
  return new Fault('Unavailable', 'store_busy', `Cannot ${doing}: ${tries} tries met another writer. Try again.`)
}

/**
 * What a failed call of the table means, after the SDK's own retries: as every AWS call (functions/aws/sdk.ts),
 * but an item past 400 KB is the caller's: LimitExceeded item_too_large.
 */
export function tableFault(thrown: unknown, operation: string): Fault {
  if (thrown instanceof Error && thrown.name === 'ValidationException' && /item size/i.test(thrown.message)) {
    const message =
      'Cannot write to the run store: the item would be larger than 400 KB. Store large values as objects.'
    return new Fault('LimitExceeded', 'item_too_large', message, { cause: thrown })
  }
  return sdkFault(thrown, { doing: 'use the run store', action: `dynamodb:${operation}` })
}

/** A table call is over in milliseconds or lost. */
const REQUEST_MS = 3_000

/** The table the environment names, and a client that asks it. */
export function tableClient(env: Core['env'], config: DynamoDBClientConfig) {
  const requestHandler = { ...CLIENT_OPTIONS.requestHandler, requestTimeout: REQUEST_MS }
  const client = new DynamoDBClient({ ...CLIENT_OPTIONS, requestHandler, ...config })
  return { client, table: requiredVariable(env, 'TABLE') }
}
