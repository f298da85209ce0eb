import { isDeepStrictEqual } from 'node:util'
import { ConditionalCheckFailedException, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import type { Item } from '../../../../functions/aws/run-store/item-encoding.ts'
import { RUN_TABLE } from '../../../../shared/runs/dynamodb-table.ts'
import type { ItemStore } from '../create-item-store.ts'
import type { Quirks } from './quirks.ts'

type Client = Pick<DynamoDBClient, 'send'>
/** As each of the SDK's commands is; its class names the operation. */
interface Command {
  readonly input: Readonly<Record<string, unknown>>
}
type Send = (command: Command) => Promise<object>

/** A table of an emulator that should answer as the item store does. */
export interface Emulated {
  readonly client: Client
  readonly table: string
  readonly quirks: Quirks
}

/**
 * Sends every command to the item store and to the emulator, one after another, and throws where they answer
 * differently: items, order, pages, names of errors, items that come with a refusal. Answers what the item store said.
 */
export function mirror({ client }: Pick<ItemStore, 'client'>, emulated: Emulated): Client {
  const mine = client.send.bind(client) as unknown as Send
  const theirs = emulated.client.send.bind(emulated.client) as unknown as Send
  let before: Promise<unknown> = Promise.resolve()
  const both = async (command: Command) => {
    const answer = await outcome(mine, command)
    const other = await outcome(theirs, command)
    const expected = await completed(theirs, emulated, command, other)
    if (!isDeepStrictEqual(comparable(command, answer.seen), comparable(command, expected))) {
      throw new Difference(command, answer, { seen: expected, error: other.error })
    }
    if (answer.error !== undefined) throw answer.error
    return answer.seen
  }
  const send = (command: Command) => {
    const done = before.then(() => both(command))
    before = done.catch(() => {})
    return done
  }
  return { send: send as unknown as Client['send'] }
}

/** Two tables that should be equal are not. */
class Difference extends Error {
  constructor(command: Command, mine: Outcome, theirs: Outcome) {
    const asked = JSON.stringify(plain(command.input))
    const [ours, others] = [mine, theirs].map(({ seen, error }) => `${JSON.stringify(plain(seen))} ${error ?? ''}`)
    super(`${command.constructor.name} ${asked}\n  item store: ${ours}\n  emulator:   ${others}`)
  }
}

interface Outcome {
  readonly seen: object
  readonly error?: unknown
}

async function outcome(send: Send, command: Command): Promise<Outcome> {
  try {
    const { $metadata, ...seen } = (await send(command)) as { $metadata: unknown }
    return { seen }
  } catch (error) {
    if (!(error instanceof Error) || error.name === 'UnsupportedByItemStore') throw error
    const item = error instanceof ConditionalCheckFailedException ? error.Item : undefined
    return { seen: { error: error.name, ...(item === undefined ? {} : { item }) }, error }
  }
}

/** What the emulator would have answered if its refusals carried the item. */
async function completed(send: Send, emulated: Emulated, command: Command, { seen, error }: Outcome): Promise<object> {
  const wanted = command.input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD'
  if (!(error instanceof ConditionalCheckFailedException) || emulated.quirks.refusal_carries_item || !wanted)
    return seen
  const key = command.input.Key ?? keyOf(command.input.Item as Record<string, unknown>)
  const read = { TableName: emulated.table, Key: key, ConsistentRead: true } as GetItemCommand['input']
  const { Item: item } = (await send(new GetItemCommand(read) as unknown as Command)) as { Item?: object }
  return { ...seen, ...(item === undefined ? {} : { item }) }
}

function keyOf({ pk, sk }: Record<string, unknown>): object {
  return { pk, sk }
}

/** Which of two entries of an index with one sort key comes first is nowhere said. */
function comparable({ input }: Command, answer: object): unknown {
  const index = RUN_TABLE.indexes.find(({ name }) => name === input.IndexName)
  const { Items: items, ...rest } = answer as { readonly Items?: readonly Item[] }
  if (index === undefined || items === undefined) return plain(answer)
  const ranges = items.map((item) => item[index.range]?.S ?? '')
  return {
    ...rest,
    ranges,
    items: plain(
      items.map((item) => JSON.stringify(plain(item))),
      'SS',
    ),
  }
}

/** For comparing: members of sets and items of a batch have no order, bytes no class. */
export function plain(value: unknown, name = ''): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) {
    const all = value.map((one) => plain(one))
    return UNORDERED.test(name) ? all.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : all
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  // The one field of a batch's answers is the table's name.
  const inside = name === 'Responses' ? () => 'SS' : (field: string) => field
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([field, one]) => [field, plain(one, inside(field))]),
  )
}

const UNORDERED = /^(SS|NS|BS)$/
