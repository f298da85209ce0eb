import {
  BatchGetItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { ruleBroken } from '../../emulators/dynamodb-rules.ts'
import type { Billed } from './billed.ts'
import { batchGetItem, getItem, query } from './reads.ts'
import { type Item, invalid, refusals } from './refusals.ts'
import { createRows } from './rows.ts'
import type { Table } from './table.ts'
import { deleteItem, putItem, updateItem } from './writes.ts'

export interface ItemStore {
  /** Does what a call asks at once, within `send`; the answer is a promise that is settled already. */
  readonly client: Pick<DynamoDBClient, 'send'>
  /** Every item, by partition and sort key. They are frozen: what is written later is another object. */
  items(): readonly Item[]
  item(pk: string, sk: string): Item | undefined
}

/**
 * The run store's table in memory: the operations and expressions functions/aws/run-store sends, as DynamoDB means
 * them (held equal to an emulator by a differential test); anything else throws UnsupportedByItemStore. Its indexes are
 * never behind, its reads never stale, it never throttles: faults are injected by wrapping the client. Time to live is
 * not enforced. `billed` is told the units AWS would bill for each call.
 */
export function createItemStore(billed?: (units: Billed) => void): ItemStore {
  const rows = createRows()
  let name: string | undefined
  const requireTable = (wanted: string | undefined) => {
    name ??= wanted
    if (name !== wanted) throw refusals.unknownTable()
  }
  const table: Table = { rows, requireTable, billed: (units) => billed?.(units()) }
  const send = async (command: { readonly input: object }) => {
    const operation = OPERATIONS.get(command.constructor)
    if (operation === undefined) throw refusals.unsupported(`the command ${command.constructor.name}`)
    const broken = ruleBroken(command.constructor.name.replace('Command', ''), command.input)
    if (broken !== undefined) throw invalid(broken)
    return { $metadata: OK, ...operation(table, command.input) }
  }
  return {
    // The SDK's type has one overload a command.
    client: { send } as unknown as Pick<DynamoDBClient, 'send'>,
    items: () => rows.all(),
    item: (pk, sk) => rows.get(pk, sk),
  }
}

const OK = { httpStatusCode: 200, attempts: 1 } as const

// Each operation reads the input of its own command.
const OPERATIONS = new Map([
  [GetItemCommand, getItem],
  [UpdateItemCommand, updateItem],
  [PutItemCommand, putItem],
  [QueryCommand, query],
  [BatchGetItemCommand, batchGetItem],
  [DeleteItemCommand, deleteItem],
] as unknown as readonly (readonly [unknown, (table: Table, input: object) => object])[])
