import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { RUN_TABLE } from '../../shared/runs/dynamodb-table.ts'

/**
 * What DynamoDB refuses and the emulators accept: every request of the AWS World goes through here in tests, over the wire
 * (rules-proxy.ts) and in the simulation's own item store. Limits as of "Service, account, and table quotas in Amazon
 * DynamoDB" and the API reference of each operation.
 */
type Values = Readonly<Record<string, AttributeValue>>

interface Request {
  readonly Key?: Values
  readonly Item?: Values
  readonly ExclusiveStartKey?: Values
  readonly IndexName?: string
  readonly Limit?: number
  readonly KeyConditionExpression?: string
  readonly ConditionExpression?: string
  readonly FilterExpression?: string
  readonly ProjectionExpression?: string
  readonly UpdateExpression?: string
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Values
  readonly RequestItems?: Readonly<Record<string, unknown>>
  readonly TransactItems?: readonly unknown[]
}

export const DYNAMODB_LIMITS = {
  expression_bytes: 4_096,
  expression_operators: 300,
  batch_get: 100,
  batch_write: 25,
  transaction: 100,
  item_bytes: 409_600,
  sort_key_bytes: 1_024,
  partition_key_bytes: 2_048,
  name_bytes: 65_535,
  values_bytes: 2_097_152,
} as const

/** The table's keys and those of its indexes: what may be in none of them is an empty text. */
const PARTITIONS: ReadonlySet<string> = new Set([RUN_TABLE.hash, ...RUN_TABLE.indexes.map(({ hash }) => hash)])
const KEYS: ReadonlySet<string> = new Set([
  ...PARTITIONS,
  RUN_TABLE.range,
  ...RUN_TABLE.indexes.map(({ range }) => range),
])

/** Why DynamoDB would answer a ValidationException to this request; undefined: as far as these rules know, it would not. */
export function ruleBroken(operation: string, given: object): string | undefined {
  const request = given as Request
  switch (operation) {
    case 'BatchGetItem':
      return batchProblem(request, DYNAMODB_LIMITS.batch_get)
    case 'BatchWriteItem':
      return batchProblem(request, DYNAMODB_LIMITS.batch_write)
    case 'TransactWriteItems':
    case 'TransactGetItems':
      return (request.TransactItems?.length ?? 0) > DYNAMODB_LIMITS.transaction
        ? `a transaction of ${request.TransactItems?.length} items; the limit is ${DYNAMODB_LIMITS.transaction}`
        : undefined
    default:
      return keyProblem(request) ?? itemProblem(request.Item) ?? expressionProblem(request)
  }
}

function keyProblem({ Key, ExclusiveStartKey, Limit }: Request): string | undefined {
  if (Limit !== undefined && Limit < 1) return `Limit is ${Limit}; it must be 1 or more`
  return emptyKey(Key ?? {}) ?? emptyKey(ExclusiveStartKey ?? {})
}

function emptyKey(values: Values): string | undefined {
  for (const [name, value] of Object.entries(values)) {
    if (!KEYS.has(name)) continue
    const bytes = Buffer.byteLength(value.S ?? '')
    if (value.S === undefined) return `key attribute "${name}" is no text`
    if (bytes === 0) return `key attribute "${name}" is an empty text`
    const most = PARTITIONS.has(name) ? DYNAMODB_LIMITS.partition_key_bytes : DYNAMODB_LIMITS.sort_key_bytes
    if (bytes > most) return `key attribute "${name}" has ${bytes} bytes; the limit is ${most}`
  }
  return undefined
}

function itemProblem(item: Values | undefined): string | undefined {
  if (item === undefined) return undefined
  return sizeProblem(item) ?? emptyKey(item) ?? valuesProblem(Object.values(item))
}

/** Why DynamoDB would not keep this item: as it is put, or as an update leaves it. */
export function sizeProblem(item: Values): string | undefined {
  const bytes = itemBytes(item)
  return bytes > DYNAMODB_LIMITS.item_bytes
    ? `an item of ${bytes} bytes; the limit is ${DYNAMODB_LIMITS.item_bytes}`
    : undefined
}

/** Names and values together. */
export function itemBytes(item: Values): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOf(value), 0)
}

function valuesProblem(values: readonly AttributeValue[]): string | undefined {
  for (const value of values) {
    const problem = valueProblem(value)
    if (problem !== undefined) return problem
  }
  return undefined
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/

function valueProblem(value: AttributeValue): string | undefined {
  const sets = [value.SS, value.NS, value.BS].filter((set) => set !== undefined)
  if (sets.some((set) => set.length === 0)) return 'an empty set'
  if (sets.some((set) => new Set(set.map(String)).size < set.length)) return 'a set with the same element twice'
  const numbers = [...(value.N === undefined ? [] : [value.N]), ...(value.NS ?? [])]
  const odd = numbers.find((number) => !NUMBER.test(number) || digitsOf(number) > 38)
  if (odd !== undefined) return `"${odd.slice(0, 50)}" is no number of at most 38 digits`
  return valuesProblem([...(value.L ?? []), ...Object.values(value.M ?? {})])
}

function digitsOf(number: string): number {
  const digits = number.replace(/[eE].*$/, '').replace(/\D/g, '')
  return digits.replace(/^0+/, '').replace(/0+$/, '').length
}

function sizeOf(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S)
  if (value.N !== undefined) return Math.ceil(digitsOf(value.N) / 2) + 1
  if (value.B !== undefined) return bytesOf(value.B)
  if (value.L !== undefined) return 3 + value.L.reduce((sum, one) => sum + 1 + sizeOf(one), 0)
  if (value.M !== undefined) {
    return 3 + Object.entries(value.M).reduce((sum, [name, one]) => sum + 1 + Buffer.byteLength(name) + sizeOf(one), 0)
  }
  const elements = [...(value.SS ?? []), ...(value.NS ?? [])]
  return elements.reduce((sum, one) => sum + Buffer.byteLength(one), 1)
}

/** Over the wire it is base64, in the simulation it is the bytes. */
function bytesOf(binary: Uint8Array | string): number {
  return typeof binary === 'string' ? Buffer.byteLength(binary, 'base64') : binary.length
}

const EXPRESSIONS = [
  'KeyConditionExpression',
  'ConditionExpression',
  'FilterExpression',
  'ProjectionExpression',
  'UpdateExpression',
] as const
const OPERATORS =
  /<>|<=|>=|[=<>+-]|\b(AND|OR|NOT|BETWEEN|IN|size|contains|begins_with|list_append|if_not_exists|attribute_exists|attribute_not_exists|attribute_type)\b/g

function expressionProblem(request: Request): string | undefined {
  const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = request
  const given = EXPRESSIONS.flatMap((kind) => {
    const text = request[kind]
    return text === undefined ? [] : [[kind, text] as const]
  })
  for (const [kind, text] of given) {
    const problem = textProblem(kind, text)
    if (problem !== undefined) return problem
  }
  const all = given.map(([, text]) => text).join(' ')
  return (
    termsProblem(all, names, values) ??
    valuesProblem(Object.values(values)) ??
    emptyKeyCondition(request, names, values) ??
    emptyKeyUpdate(request, names, values)
  )
}

function textProblem(kind: string, text: string): string | undefined {
  const bytes = Buffer.byteLength(text)
  if (bytes === 0) return `${kind} is empty`
  if (bytes > DYNAMODB_LIMITS.expression_bytes)
    return `${kind} has ${bytes} bytes; the limit is ${DYNAMODB_LIMITS.expression_bytes}`
  const operators = text.match(OPERATORS)?.length ?? 0
  if (operators > DYNAMODB_LIMITS.expression_operators)
    return `${kind} has ${operators} operators; the limit is ${DYNAMODB_LIMITS.expression_operators}`
  return undefined
}

function termsProblem(text: string, names: Readonly<Record<string, string>>, values: Values): string | undefined {
  const used = new Set(text.match(/[#:]\w+/g) ?? [])
  const defined = new Set([...Object.keys(names), ...Object.keys(values)])
  const unknown = [...used].find((term) => !defined.has(term))
  if (unknown !== undefined) return `"${unknown}" is used in an expression and defined nowhere`
  const unused = [...defined].find((term) => !used.has(term))
  if (unused !== undefined) return `"${unused}" is defined and used in no expression`
  if (text === '') return undefined
  const bytes = Object.values(values).reduce((sum, value) => sum + sizeOf(value), 0)
  return bytes > DYNAMODB_LIMITS.values_bytes ? `values of ${bytes} bytes in one request` : undefined
}

/** Key conditions compare key attributes alone: with an empty text they are refused, also `begins_with(sk, "")`. */
function emptyKeyCondition(
  { KeyConditionExpression: text }: Request,
  names: Readonly<Record<string, string>>,
  values: Values,
): string | undefined {
  if (text === undefined) return undefined
  const other = (text.match(/#\w+/g) ?? []).find((alias) => !KEYS.has(names[alias] ?? ''))
  if (other !== undefined) return `KeyConditionExpression names "${names[other]}", which is no key`
  const empty = (text.match(/:\w+/g) ?? []).find((term) => values[term]?.S === '' || values[term]?.B?.length === 0)
  return empty === undefined ? undefined : `key condition with an empty text (${empty} in ${text})`
}

/** An index key may be absent, never an empty text. */
function emptyKeyUpdate(
  { UpdateExpression: text = '' }: Request,
  names: Readonly<Record<string, string>>,
  values: Values,
): string | undefined {
  for (const [, alias = '', term = ''] of text.matchAll(/(#\w+) = (:\w+)/g)) {
    const problem = values[term] === undefined ? undefined : emptyKey({ [names[alias] ?? alias]: values[term] })
    if (problem !== undefined) return problem
  }
  return undefined
}

function batchProblem({ RequestItems = {} }: Request, most: number): string | undefined {
  const requests = Object.values(RequestItems).flatMap((table) =>
    Array.isArray(table) ? table : ((table as { readonly Keys?: readonly Values[] }).Keys ?? []),
  ) as readonly (Values & { readonly PutRequest?: { Item: Values }; readonly DeleteRequest?: { Key: Values } })[]
  if (requests.length === 0) return 'a batch of nothing'
  if (requests.length > most) return `a batch of ${requests.length}; the limit is ${most}`
  const keys = requests.map((one) => one.DeleteRequest?.Key ?? one.PutRequest?.Item ?? one)
  const told = keys.map((key) => JSON.stringify([key[RUN_TABLE.hash], key[RUN_TABLE.range]]))
  if (new Set(told).size < told.length) return 'a batch that names a key twice'
  for (const one of requests) {
    const problem =
      one.PutRequest === undefined ? emptyKey(one.DeleteRequest?.Key ?? one) : itemProblem(one.PutRequest.Item)
    if (problem !== undefined) return problem
  }
  return undefined
}
