import assert from 'node:assert/strict'
import { GetItemCommand, PutItemCommand, QueryCommand, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import type { Billed } from '../faults/item-store/billed.ts'
import { createItemStore } from '../faults/item-store/create-item-store.ts'

/** What the differential test cannot show: limits, units, order past the Basic Multilingual Plane, and what is not known. */
const TableName = 'runs'
const key = (sk: string) => ({ pk: { S: 'a' }, sk: { S: sk } })
const text = (bytes: number) => ({ S: 'x'.repeat(bytes) })

function open() {
  const billed: Billed[] = []
  const { client, items } = createItemStore((units) => billed.push(units))
  const put = (sk: string, more: Record<string, { S: string }> = {}) =>
    client.send(new PutItemCommand({ TableName, Item: { ...key(sk), ...more } }))
  const all = (more: object = {}) =>
    client.send(
      new QueryCommand({
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :a',
        ExpressionAttributeValues: { ':a': { S: 'a' } },
        ...more,
      }),
    )
  return { client, items, billed, put, all }
}

describe('the item store', () => {
  test('bills writes by KiB of the larger item, with the indexes; reads by 4 KiB', async () => {
    const { client, billed, put } = open()
    await put('1', { txt: text(1_500) })
    await put('1', { txt: text(10) })
    await put('2', { due: { S: 'd' }, check_at: { S: '1' } })
    await put('2', { due: { S: 'd' }, check_at: { S: '2' } })
    await put('2', { due: { S: 'd' }, check_at: { S: '2' }, other: { S: 'o' } })
    await put('3', { txt: text(9_000) })
    await client.send(new GetItemCommand({ TableName, Key: key('3'), ConsistentRead: true }))
    await client.send(new GetItemCommand({ TableName, Key: key('3') }))
    expect(billed.map(({ wcu, rcu }) => wcu || rcu)).toEqual([2, 2, 2, 3, 1, 9, 3, 1.5])
  })

  test('says of each refusal by itself how often it was sent', async () => {
    const { client, put } = open()
    await put('1')
    const refused = () => {
      const ConditionExpression = 'attribute_not_exists(pk)'
      const again = client.send(new PutItemCommand({ TableName, Item: key('1'), ConditionExpression }))
      return again.then(
        () => assert.fail('it is there already'),
        (error: { readonly $metadata: { attempts?: number } }) => error.$metadata,
      )
    }
    const first = await refused()
    first.attempts = 2
    expect((await refused()).attempts).toBe(1)
  })

  test('refuses items past 400 KB, as a put and as an update', async () => {
    const { client, put } = open()
    await expect(put('1', { txt: text(409_700) })).rejects.toMatchObject({ name: 'ValidationException' })
    await put('1', { txt: text(409_000) })
    const grow = new UpdateItemCommand({
      TableName,
      Key: key('1'),
      UpdateExpression: 'SET more = :more',
      ExpressionAttributeValues: { ':more': text(1_000) },
    })
    await expect(client.send(grow)).rejects.toThrow(/item size/i)
  })

  test('answers pages of 1 MB that together are everything', async () => {
    const { put, all } = open()
    for (const sk of ['1', '2', '3', '4', '5', '6', '7']) await put(sk, { txt: text(300_000) })
    const first = await all()
    expect([first.Count, first.LastEvaluatedKey]).toEqual([4, key('4')])
    const second = await all({ ExclusiveStartKey: first.LastEvaluatedKey })
    expect([second.Count, second.LastEvaluatedKey]).toEqual([3, undefined])
  })

  test('sorts by UTF-8 bytes, not by UTF-16 units', async () => {
    const { put, all } = open()
    for (const sk of ['\u{1d11e}', '\uffee', 'z']) await put(sk)
    expect((await all()).Items?.map(({ sk }) => sk?.S)).toEqual(['z', '\uffee', '\u{1d11e}'])
  })

  test('does not let anybody change what is stored', async () => {
    const { client, items, put } = open()
    await put('1', { txt: { S: 'a' } })
    const { Item: item } = await client.send(new GetItemCommand({ TableName, Key: key('1') }))
    expect(() => Object.assign(item ?? {}, { txt: { S: 'b' } })).toThrow(TypeError)
    expect(items()).toEqual([{ ...key('1'), txt: { S: 'a' } }])
  })

  test.each([
    ['another command', new ScanCommand({ TableName })],
    ['another field', new GetItemCommand({ TableName, Key: key('1'), ReturnConsumedCapacity: 'TOTAL' })],
    [
      'another function',
      new PutItemCommand({
        TableName,
        Item: key('1'),
        ConditionExpression: 'attribute_type(txt, :a)',
        ExpressionAttributeValues: { ':a': { S: 'S' } },
      }),
    ],
    ['a number past 15 digits', new PutItemCommand({ TableName, Item: { ...key('1'), n: { N: '1234567890123456' } } })],
  ])('says loudly that it does not know %s', async (_, command) => {
    await expect(open().client.send(command as never)).rejects.toMatchObject({ name: 'UnsupportedByItemStore' })
  })
})
