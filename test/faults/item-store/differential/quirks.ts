import type { AttributeValue, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'

/** What an emulator does otherwise than DynamoDB in so many places that the comparison must allow for it. */
export interface Quirks {
  /** A failed condition answers the item as it was, if asked. */
  readonly refusal_carries_item: boolean
  /** REMOVE of a path whose map is not there is refused. */
  readonly refuses_remove_into_nothing: boolean
}

export const QUIRKS = {
  dynalite: { refusal_carries_item: false, refuses_remove_into_nothing: true },
  dynoxide: { refusal_carries_item: true, refuses_remove_into_nothing: false },
} as const satisfies Readonly<Record<string, Quirks>>

/** One update of one item, and what it leaves; `error`: the name of the refusal. */
export interface OddUpdate {
  readonly what: string
  readonly item: Readonly<Record<string, AttributeValue>>
  readonly update: Pick<
    UpdateItemCommandInput,
    'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeValues' | 'ReturnValuesOnConditionCheckFailure'
  >
  readonly item_store: Left
  /** As the item store, where not said. */
  readonly dynalite?: Left
  readonly dynoxide?: Left
}

type Left = { readonly item: Readonly<Record<string, AttributeValue>> } | { readonly error: string }

const REFUSED: Left = { error: 'ConditionalCheckFailedException' }
const INVALID: Left = { error: 'ValidationException' }
const list = (...texts: readonly string[]): AttributeValue => ({ L: texts.map((S) => ({ S })) })
const done = { done: { BOOL: true } } as const
const TRUE = { ':true': { BOOL: true } } as const

/** Where the item store answers as DynamoDB does and an emulator does not: none of it is in the run store's requests. */
export const ODD_UPDATES: readonly OddUpdate[] = [
  {
    what: 'two places of a list are removed as they were counted before',
    item: { lst: list('a', 'b', 'c') },
    update: { UpdateExpression: 'REMOVE lst[0], lst[1]' },
    item_store: { item: { lst: list('c') } },
    dynalite: { item: { lst: list('b') } },
    dynoxide: { item: { lst: list('b') } },
  },
  {
    what: 'an empty text has the size 0',
    item: { txt: { S: '' } },
    update: {
      UpdateExpression: 'SET done = :true',
      ConditionExpression: 'size(txt) = :n',
      ExpressionAttributeValues: { ...TRUE, ':n': { N: '0' } },
    },
    item_store: { item: { txt: { S: '' }, ...done } },
    dynalite: REFUSED,
  },
  {
    what: 'lists are equal by what is in them',
    item: { lst: list('a') },
    update: {
      UpdateExpression: 'SET done = :true',
      ConditionExpression: 'lst = :same',
      ExpressionAttributeValues: { ...TRUE, ':same': list('a') },
    },
    item_store: { item: { lst: list('a'), ...done } },
    dynalite: REFUSED,
  },
  {
    what: 'maps are equal by what is in them',
    item: { mp: { M: { x: { N: '1' } } } },
    update: {
      UpdateExpression: 'SET done = :true',
      ConditionExpression: 'mp = :same',
      ExpressionAttributeValues: { ...TRUE, ':same': { M: { x: { N: '1' } } } },
    },
    item_store: { item: { mp: { M: { x: { N: '1' } } }, ...done } },
    dynalite: REFUSED,
  },
  {
    what: 'NOT may follow NOT',
    item: { txt: { S: 'a' } },
    update: {
      UpdateExpression: 'SET done = :true',
      ConditionExpression: 'NOT NOT attribute_exists(txt)',
      ExpressionAttributeValues: TRUE,
    },
    item_store: { item: { txt: { S: 'a' }, ...done } },
    dynalite: INVALID,
  },
  {
    what: 'what lies in a map that is not there cannot be removed',
    item: { txt: { S: 'a' } },
    update: { UpdateExpression: 'REMOVE mp.x' },
    item_store: INVALID,
    dynoxide: { item: { txt: { S: 'a' } } },
  },
]
