import {
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import type { Item } from '../../../../functions/aws/run-store/item-encoding.ts'
import {
  createExpressionTerms,
  openTable,
  type RunTable,
  type Terms,
} from '../../../../functions/aws/run-store/table.ts'
import { Fault } from '../../../../shared/errors.ts'
import { RUN_TABLE } from '../../../../shared/runs/dynamodb-table.ts'
import { chance, type Random } from '../../../integration/random-runs.ts'
import type { Quirks } from './quirks.ts'
import { pick, randomCondition, randomItem, randomUpdate } from './random-expressions.ts'

interface Target {
  readonly client: Pick<DynamoDBClient, 'send'>
  readonly table: string
  /** Partition keys of this sequence begin so: nothing of another one is met. */
  readonly own: string
  readonly quirks: Quirks
}

/**
 * So many random operations on a handful of items, half of them through the table functions of the run store's
 * adapter, half as requests of their own. Errors are answers too; a difference is thrown by the client.
 */
export async function randomOperations(target: Target, random: Random, many: number): Promise<void> {
  const { client, table } = target
  const clock = { now: () => 0, delay: async () => {} }
  const run = openTable({ client, table, clock, ids: { random: (bytes) => new Uint8Array(bytes) } })
  for (let i = 0; i < many; i += 1) {
    const operation = chance(random, 0.5)
      ? pick(random, THROUGH_TABLE)(run, random, target)
      : pick(random, REQUESTS)(target, random)
    await operation.catch(requireAnswer)
  }
}

/** Anything DynamoDB answers is well; what is thrown otherwise is a difference, or a mistake of ours. */
function requireAnswer(error: unknown): void {
  const thrown = error instanceof Fault ? error.cause : error
  const known = thrown instanceof Error && /^(ValidationException|ConditionalCheckFailedException)$/.test(thrown.name)
  if (!known) throw thrown
}

const SORTS = ['HEAD', 'B#0', 'B#1', 'B#10', 'P#000000000008', 'P#000000000016', 'ü', '\u{1d11e}']

function keyIn(random: Random, own: string): Item {
  return { pk: { S: `${own}${pick(random, ['a', 'b'])}` }, sk: { S: pick(random, SORTS) } }
}

type OnTable = (table: RunTable, random: Random, target: Target) => Promise<unknown>

const THROUGH_TABLE: readonly OnTable[] = [
  (table, random, { own }) => table.put({ ...randomItem(random), ...keyIn(random, own) }),
  (table, random, { own }) =>
    table.put({ ...randomItem(random), ...keyIn(random, own) }, (terms) => randomCondition(random, terms)),
  ...Array<OnTable>(3).fill((table, random, { own, quirks }) =>
    table.update(keyIn(random, own), (terms) => ({
      update: randomUpdate(random, terms, quirks),
      ...(chance(random, 0.6) ? { condition: randomCondition(random, terms) } : {}),
    })),
  ),
  (table, random, { own }) =>
    table.get(keyIn(random, own), { only: [['num'], ['mp', 'x'], ['mp', 'deep', 'x'], ['lst']] }),
  (table, random, { own }) =>
    table.getAll([...new Map(SORTS.map((sk) => [sk, { ...keyIn(random, own), sk: { S: sk } }])).values()]),
  (table, random, { own }) => table.all({ pk: { S: `${own}a` }, sk: { S: pick(random, ['B#', 'P#', 'B#1', 'X']) } }),
  (table, random, { own }) => table.remove(keyIn(random, own)),
]

type Request = (target: Target, random: Random) => Promise<unknown>

const REQUESTS: readonly Request[] = [
  ({ client, table, own }, random) =>
    client.send(new GetItemCommand({ TableName: table, Key: keyIn(random, own), ConsistentRead: chance(random, 0.5) })),
  ({ client, table, own }, random) => {
    const keys = [keyIn(random, own), keyIn(random, own)]
    return client.send(new BatchGetItemCommand({ RequestItems: { [table]: { Keys: keys, ConsistentRead: true } } }))
  },
  ({ client, table, own }, random) => {
    const item = { ...randomItem(random), ...(chance(random, 0.9) ? keyIn(random, own) : { pk: { S: own } }) }
    const terms = plainTerms()
    const ConditionExpression = chance(random, 0.5) ? randomCondition(random, terms) : undefined
    return client.send(new PutItemCommand({ TableName: table, Item: item, ConditionExpression, ...used(terms) }))
  },
  update,
  update,
  queryTable,
  queryIndex,
]

function update({ client, table, own, quirks }: Target, random: Random) {
  const terms = plainTerms()
  const UpdateExpression = randomUpdate(random, terms, quirks)
  const ConditionExpression = chance(random, 0.5) ? randomCondition(random, terms) : undefined
  return client.send(
    new UpdateItemCommand({
      TableName: table,
      Key: keyIn(random, own),
      UpdateExpression,
      ConditionExpression,
      ReturnValues: pick(random, ['ALL_NEW', 'NONE'] as const),
      ...(chance(random, 0.5) ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } : {}),
      ...used(terms),
    }),
  )
}

/** Follows the pages of one query to its end. */
async function queryTable({ client, table, own }: Target, random: Random): Promise<void> {
  const terms = createExpressionTerms()
  const hash = `${terms.path('pk')} = ${terms.value({ S: `${own}${pick(random, ['a', 'b'])}` })}`
  const range = pick(random, RANGES)(terms, random)
  const filter = chance(random, 0.3) ? randomCondition(random, terms) : undefined
  await pages(client, random, {
    TableName: table,
    ConsistentRead: true,
    KeyConditionExpression: range === '' ? hash : `${hash} AND ${range}`,
    FilterExpression: filter,
    ...used(terms),
  })
}

async function queryIndex({ client, table }: Target, random: Random): Promise<void> {
  const terms = createExpressionTerms()
  const { name, hash, range } = pick(random, RUN_TABLE.indexes)
  const on = `${terms.path(hash)} = ${terms.value({ S: pick(random, ['a', 'b', 'ab', 'ü']) })}`
  const more = chance(random, 0.5) ? ` AND ${terms.path(range)} <= ${terms.value({ S: 'ab' })}` : ''
  // Which of two entries with one sort key comes first is nowhere said: all of them, on one page.
  await client.send(
    new QueryCommand({ TableName: table, IndexName: name, KeyConditionExpression: on + more, ...used(terms) }),
  )
}

const RANGES: readonly ((terms: Terms, random: Random) => string)[] = [
  () => '',
  ({ path, value }, random) =>
    `${path('sk')} ${pick(random, ['=', '<', '<=', '>', '>='])} ${value({ S: pick(random, SORTS) })}`,
  ({ path, value }, random) => `begins_with(${path('sk')}, ${value({ S: pick(random, ['B#', 'B#1', 'P#0', 'Q']) })})`,
  ({ path, value }, random) => {
    const [low, high] = [pick(random, SORTS.slice(0, 3)), pick(random, SORTS.slice(3))]
    return `${path('sk')} BETWEEN ${value({ S: low })} AND ${value({ S: high })}`
  },
]

async function pages(client: Target['client'], random: Random, input: QueryCommand['input']): Promise<void> {
  const [ScanIndexForward, Limit] = [chance(random, 0.5), pick(random, [undefined, 1, 2, 3])]
  let after: Item | undefined
  do {
    const page = await client.send(new QueryCommand({ ...input, ScanIndexForward, Limit, ExclusiveStartKey: after }))
    after = page.LastEvaluatedKey
  } while (after !== undefined)
}

/** Names as they are, values numbered: what the adapter never writes, and DynamoDB understands as well. */
function plainTerms(): Terms {
  const { path, ...aliased } = createExpressionTerms()
  return { ...aliased, path: (...names) => names.map((name) => (PLAIN.test(name) ? name : path(name))).join('.') }
}

const PLAIN = /^(num|txt|flg|tags|nums|lst|mp|deep|x|y|nowhere)$/

function used({ names, values }: Terms) {
  return {
    ...(Object.keys(names).length === 0 ? {} : { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: values }),
  }
}
