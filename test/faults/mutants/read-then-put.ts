import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { parsed } from '../item-store/expressions.ts'
import { conditionFailed, type Item } from '../item-store/refusals.ts'
import type { Mutant } from '../mutant.ts'
import { type Command, isAppend, type Send, sending } from './rewriting.ts'

export const readThenPut: Mutant = {
  name: 'read-then-put',
  what: 'an append reads HEAD, works out the next one and puts it whole',
  client: sending((send) => (command) => (isAppend(command) ? inTwo(send, command) : send(command))),
}

async function inTwo(send: Send, command: Command): Promise<object> {
  const input = command.input as UpdateItemInput
  const { TableName, Key } = input
  const read = new GetItemCommand({ TableName, Key, ConsistentRead: true } as never)
  const { Item: was = {} } = (await send(read as unknown as Command)) as { readonly Item?: Item }
  const terms = { names: input.ExpressionAttributeNames ?? {}, values: input.ExpressionAttributeValues ?? {} }
  const holds = parsed.condition(input.ConditionExpression)?.means({ ...terms, item: was }) ?? true
  if (!holds) throw conditionFailed(was)
  const now = parsed.update(input.UpdateExpression)?.means.apply({ ...terms, item: was })
  await send(new PutItemCommand({ TableName, Item: now } as never) as unknown as Command)
  return { Attributes: now }
}

interface UpdateItemInput {
  readonly TableName: string
  readonly Key: Item
  readonly UpdateExpression: string
  readonly ConditionExpression?: string
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Item
}
