import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { type Condition, readCondition } from './condition.ts'
import { type KeyCondition, readKeyCondition } from './key-condition.ts'
import { keptMap } from './kinds.ts'
import { type Path, readPath, type Scope } from './operands.ts'
import { type Reader, readerOf } from './reader.ts'
import { invalid } from './refusals.ts'
import { readUpdate, type Update } from './update.ts'

/** An expression, parsed once a text. */
export interface Parsed<T> {
  readonly means: T
  readonly names: ReadonlySet<string>
  readonly values: ReadonlySet<string>
}

export interface Filter {
  readonly condition: Condition
  readonly paths: readonly Path[]
}

export const parsed = {
  condition: cached<Condition>((reader) => readCondition(reader, [])),
  filter: cached<Filter>((reader) => {
    const paths: Path[] = []
    return { condition: readCondition(reader, paths), paths }
  }),
  keys: cached<KeyCondition>(readKeyCondition),
  projection: cached<readonly Path[]>((reader) => {
    const paths = [readPath(reader)]
    while (reader.took(',')) paths.push(readPath(reader))
    // Nobody reads single places of lists.
    return paths.flat().some((step) => typeof step === 'number') ? reader.fail() : paths
  }),
  update: cached<Update>(readUpdate),
} as const

/** The request's names and values, checked: every one used, none missing (as DynamoDB demands). */
export function termsOf(
  given: {
    readonly ExpressionAttributeNames?: Record<string, string> | undefined
    readonly ExpressionAttributeValues?: Record<string, AttributeValue> | undefined
  },
  expressions: readonly (Parsed<unknown> | undefined)[],
): Omit<Scope, 'item'> {
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = given
  const used = expressions.filter((one) => one !== undefined)
  requireTerms('names', names, used)
  requireTerms('values', values, used)
  return { names: names ?? {}, values: keptMap(values ?? {}) }
}

function requireTerms(
  terms: 'names' | 'values',
  given: Readonly<Record<string, unknown>> | undefined,
  used: readonly Parsed<unknown>[],
): void {
  const what = terms === 'names' ? 'ExpressionAttributeNames' : 'ExpressionAttributeValues'
  if (given !== undefined && used.length === 0) throw invalid(`${what} can only be specified when using expressions`)
  const keys = given === undefined ? [] : Object.keys(given)
  if (given !== undefined && keys.length === 0) throw invalid(`${what} must not be empty`)
  for (const one of used) {
    const missing = firstMissing(one[terms], given)
    if (missing !== undefined) throw invalid(`${what}: "${missing}" is used in an expression but not defined`)
  }
  const idle = keys.filter((key) => !used.some((one) => one[terms].has(key)))
  if (idle.length > 0) throw invalid(`Value provided in ${what} unused in expressions: keys: {${idle.join(', ')}}`)
}

function firstMissing(
  wanted: ReadonlySet<string>,
  given: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  for (const term of wanted) if (given?.[term] === undefined) return term
  return undefined
}

/** Bytes of one expression. */
const MAX_EXPRESSION = 4_096
const MAX_CACHED = 20_000

function cached<T>(read: (reader: Reader) => T): (text: string | undefined) => Parsed<T> | undefined {
  const known = new Map<string, Parsed<T>>()
  return (text) => {
    if (text === undefined) return undefined
    const before = known.get(text)
    if (before !== undefined) return before
    if (text.length > MAX_EXPRESSION) throw invalid('Expression size has exceeded the maximum allowed size')
    const reader = readerOf(text)
    const means = read(reader)
    if (reader.peek() !== '') reader.fail()
    if (known.size >= MAX_CACHED) known.clear()
    const found = { means, names: reader.names, values: reader.values }
    known.set(text, found)
    return found
  }
}
