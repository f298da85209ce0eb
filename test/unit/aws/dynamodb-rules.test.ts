import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { ruleBroken } from '../../emulators/dynamodb-rules.ts'
import { createItemStore } from '../../faults/item-store/create-item-store.ts'

/** The house rules of DynamoDB that every test of the AWS World goes past: each is held here, or its loss turns nothing red. */
const key = (pk = 'p', sk = 's') => ({ pk: { S: pk }, sk: { S: sk } })
const keys = (n: number) => Array.from({ length: n }, (_, at) => key('p', `s${at}`))
const text = (bytes: number) => 'x'.repeat(bytes)
/** `#a = :a AND ..`, of so many comparisons. */
const many = (comparisons: number) => Array.from({ length: comparisons }, () => '#a = :a').join(' AND ')
const condition = (ConditionExpression: string, value: object = { S: 'v' }) => ({
  Key: key(),
  UpdateExpression: 'SET #b = :a',
  ConditionExpression,
  ExpressionAttributeNames: { '#a': 'a', '#b': 'b' },
  ExpressionAttributeValues: { ':a': value },
})
const update = (value: object, name = 'b', UpdateExpression = 'SET #b = :b') => ({
  Key: key(),
  UpdateExpression,
  ExpressionAttributeNames: { '#b': name },
  ExpressionAttributeValues: { ':b': value },
})
const query = (
  KeyConditionExpression: string,
  sk: object = { S: 's' },
  names: object = { '#pk': 'pk', '#sk': 'sk' },
) => ({
  KeyConditionExpression,
  ExpressionAttributeNames: names,
  ExpressionAttributeValues: { ':pk': { S: 'p' }, ':sk': sk },
})
const puts = (n: number) => ({ RequestItems: { t: keys(n).map((Item) => ({ PutRequest: { Item } })) } })
/** Bytes of the names and values beside `b`. */
const BESIDE = Buffer.byteLength('pkpskssb') - 1
const item = (bytes: number) => ({ Item: { ...key(), b: { S: text(bytes - BESIDE) } } })
const BEGINS = '#pk = :pk AND begins_with(#sk, :sk)'

/** The rule, a request at its limit, one past it, and what is said of that. */
const ROWS: readonly (readonly [rule: string, operation: string, held: object, broken: object, says: RegExp])[] = [
  ['Limit is 1 or more', 'Query', { ...query(BEGINS), Limit: 1 }, { ...query(BEGINS), Limit: 0 }, /Limit is 0/],
  ['a key is a text', 'GetItem', { Key: key() }, { Key: { ...key(), sk: { N: '1' } } }, /"sk" is no text/],
  ['a key is not empty', 'GetItem', { Key: key('p', 'x') }, { Key: key('p', '') }, /"sk" is an empty text/],
  [
    'a page begins at a key',
    'Query',
    { ...query(BEGINS), ExclusiveStartKey: key() },
    { ...query(BEGINS), ExclusiveStartKey: key('') },
    /"pk" is an empty/,
  ],
  ['a partition key has 2,048 bytes', 'GetItem', { Key: key(text(2_048)) }, { Key: key(text(2_049)) }, /"pk" has 2049/],
  [
    'a sort key has 1,024 bytes',
    'GetItem',
    { Key: key('p', text(1_024)) },
    { Key: key('p', text(1_025)) },
    /"sk" has 1025/,
  ],
  [
    'an index key that is put is not empty',
    'PutItem',
    { Item: { ...key(), due: { S: 'x' } } },
    { Item: { ...key(), due: { S: '' } } },
    /"due" is an empty/,
  ],
  [
    'an index key that is set is not empty',
    'UpdateItem',
    update({ S: 'x' }, 'due'),
    update({ S: '' }, 'due'),
    /"due" is an empty/,
  ],
  ['an item has 400 KB', 'PutItem', item(409_600), item(409_601), /409601 bytes/],
  ['a set is not empty', 'UpdateItem', update({ SS: ['a'] }), update({ SS: [] }), /an empty set/],
  [
    'a set has each element once',
    'PutItem',
    { Item: { ...key(), b: { SS: ['a', 'b'] } } },
    { Item: { ...key(), b: { SS: ['a', 'a'] } } },
    /the same element twice/,
  ],
  [
    'so deep inside too',
    'PutItem',
    { Item: { ...key(), b: { L: [{ M: { c: { NS: ['1'] } } }] } } },
    { Item: { ...key(), b: { L: [{ M: { c: { NS: [] } } }] } } },
    /an empty set/,
  ],
  ['a number is one', 'UpdateItem', update({ N: '-1.5e3' }), update({ N: 'NaN' }), /"NaN" is no number/],
  [
    'a number has 38 digits',
    'UpdateItem',
    update({ N: '1'.repeat(38) }),
    update({ N: '1'.repeat(39) }),
    /at most 38 digits/,
  ],
  ['an expression is not empty', 'UpdateItem', condition('#a = :a'), condition(''), /ConditionExpression is empty/],
  [
    'an expression has 4 KB',
    'UpdateItem',
    condition(`#a = :a${' '.repeat(4_089)}`),
    condition(`#a = :a${' '.repeat(4_090)}`),
    /has 4097 bytes/,
  ],
  // n comparisons have n - 1 ANDs between them.
  [
    'an expression has 300 operators',
    'UpdateItem',
    condition(`NOT ${many(150)}`),
    condition(`${many(151)}`),
    /has 301 operators/,
  ],
  [
    'what is used is defined',
    'UpdateItem',
    condition('#a = :a'),
    condition('#a = :c'),
    /":c" is used .* defined nowhere/,
  ],
  [
    'what is defined is used',
    'UpdateItem',
    condition('#a = :a'),
    { ...condition('#b = :a') },
    /"#a" is defined and used in no/,
  ],
  [
    'values have 2 MB',
    'UpdateItem',
    update({ S: text(2_097_152) }),
    update({ S: text(2_097_153) }),
    /values of 2097153/,
  ],
  [
    'a key condition names keys',
    'Query',
    query(BEGINS),
    query(BEGINS, { S: 's' }, { '#pk': 'pk', '#sk': 'state' }),
    /"state", which is no key/,
  ],
  [
    'a key condition compares with no empty text',
    'Query',
    query(BEGINS),
    query(BEGINS, { S: '' }),
    /key condition with an empty text/,
  ],
  [
    'nor with an empty binary',
    'Query',
    query(BEGINS, { B: new Uint8Array(1) }),
    query(BEGINS, { B: new Uint8Array() }),
    /empty text/,
  ],
  [
    'a batch is not empty',
    'BatchGetItem',
    { RequestItems: { t: { Keys: keys(1) } } },
    { RequestItems: { t: { Keys: [] } } },
    /a batch of nothing/,
  ],
  [
    'a batch reads 100',
    'BatchGetItem',
    { RequestItems: { t: { Keys: keys(100) } } },
    { RequestItems: { t: { Keys: keys(101) } } },
    /a batch of 101/,
  ],
  ['a batch writes 25', 'BatchWriteItem', puts(25), puts(26), /a batch of 26/],
  [
    'a batch names a key once',
    'BatchGetItem',
    { RequestItems: { t: { Keys: keys(2) } } },
    { RequestItems: { t: { Keys: [key(), key()] } } },
    /names a key twice/,
  ],
  [
    'a batch has whole keys',
    'BatchWriteItem',
    { RequestItems: { t: [{ DeleteRequest: { Key: key() } }] } },
    { RequestItems: { t: [{ DeleteRequest: { Key: key('') } }] } },
    /"pk" is an empty/,
  ],
  [
    'a batch puts items of 400 KB',
    'BatchWriteItem',
    { RequestItems: { t: [{ PutRequest: item(409_600) }] } },
    { RequestItems: { t: [{ PutRequest: item(409_601) }] } },
    /409601 bytes/,
  ],
  [
    'a transaction writes 100',
    'TransactWriteItems',
    { TransactItems: keys(100) },
    { TransactItems: keys(101) },
    /transaction of 101/,
  ],
  [
    'a transaction reads 100',
    'TransactGetItems',
    { TransactItems: keys(100) },
    { TransactItems: keys(101) },
    /transaction of 101/,
  ],
]

test.each(ROWS)('%s (%s)', (_, operation, held, broken, says) => {
  expect(ruleBroken(operation, held)).toBeUndefined()
  expect(ruleBroken(operation, broken)).toMatch(says)
})

describe('the item store of the simulation', () => {
  const grow = (bytes: number) =>
    new UpdateItemCommand({
      TableName: 't',
      Key: key(),
      UpdateExpression: 'SET #c = :c',
      ExpressionAttributeNames: { '#c': 'c' },
      ExpressionAttributeValues: { ':c': { S: text(bytes - 1) } },
    })

  test('holds an item to 400 KB also after an update', async () => {
    const { client, item: stored } = createItemStore()
    await client.send(new PutItemCommand({ TableName: 't', ...item(400_000) }))
    await client.send(grow(9_600))
    const before = stored('p', 's')
    // `send` of the store throws at once what others answer later.
    await expect((async () => client.send(grow(9_601)))()).rejects.toThrow(/Item size to update has exceeded/)
    expect(stored('p', 's')).toBe(before)
  })

  test('is held to the same rules', async () => {
    const { client } = createItemStore()
    const put = new PutItemCommand({ TableName: 't', Item: { ...key(), due: { S: '' } } })
    await expect((async () => client.send(put))()).rejects.toThrow(/"due" is an empty text/)
  })
})
