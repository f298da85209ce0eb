import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { emulatedAws } from '../../emulators/aws-client.ts'
import { openRulesProxy } from '../../emulators/rules-proxy.ts'

interface Asked {
  readonly Item?: Readonly<Record<string, AttributeValue>>
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Readonly<Record<string, AttributeValue>>
}

/** One item, and nothing is too large for it: an update sets `#n` to `:v`. */
async function openLenient() {
  let item: Asked['Item']
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    asked.push(operation)
    item = after(operation, item, JSON.parse(Buffer.concat(chunks).toString('utf8')))
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(JSON.stringify(operation === 'GetItem' && item !== undefined ? { Item: item } : {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, asked, port: (server.address() as AddressInfo).port }
}

function after(operation: string, item: Asked['Item'], asked: Asked): Asked['Item'] {
  const { Item, ExpressionAttributeNames: names, ExpressionAttributeValues: values } = asked
  if (operation === 'PutItem') return Item
  if (operation === 'DeleteItem') return undefined
  if (operation === 'GetItem') return item
  return { ...KEY, ...item, [names?.['#n'] ?? '']: values?.[':v'] ?? { NULL: true } }
}

const KEY = { pk: { S: 'p' }, sk: { S: 's' } }

test('an update that makes an item larger than 400 KB is refused, and the item is as it was', async () => {
  const { server, asked, port } = await openLenient()
  const proxy = await openRulesProxy(port)
  const client = new DynamoDBClient(emulatedAws(`http://127.0.0.1:${proxy.port}`))
  const TableName = 't'
  const add = (name: string, bytes: number) => {
    const values = { ':v': { S: 'x'.repeat(bytes) } }
    const named = { ExpressionAttributeNames: { '#n': name }, ExpressionAttributeValues: values }
    return client.send(new UpdateItemCommand({ TableName, Key: KEY, UpdateExpression: 'SET #n = :v', ...named }))
  }
  const names = async () => {
    const { Item = {} } = await client.send(new GetItemCommand({ TableName, Key: KEY, ConsistentRead: true }))
    return Object.keys(Item).sort().join(' ')
  }
  const tooLarge = { name: 'ValidationException', message: expect.stringContaining('has exceeded the maximum') }
  await client.send(new PutItemCommand({ TableName, Item: { ...KEY, a: { S: 'x'.repeat(200_000) } } }))
  for (const name of ['b', 'c', 'b']) await add(name, 100_000)
  await expect(add('d', 10_000)).rejects.toMatchObject(tooLarge)
  expect(await names()).toBe('a b c pk sk')
  await add('d', 9_000)
  expect(await names()).toBe('a b c d pk sk')
  await add('a', 1)
  // What cannot be too large is not looked at.
  asked.length = 0
  await add('e', 1_000)
  await add('f', 1_000)
  expect(asked.filter((operation) => operation === 'GetItem')).toHaveLength(2)
  client.destroy()
  await proxy.close()
  server.close()
})
