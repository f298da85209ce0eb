import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { kindOf, typed } from './kinds.ts'
import type { Reader } from './reader.ts'
import type { Item } from './refusals.ts'

/** What one request brings to its expressions. */
export interface Scope {
  readonly item: Item
  readonly names: Readonly<Record<string, string>>
  /** As `kept`. */
  readonly values: Readonly<Record<string, AttributeValue>>
}

/** Steps into an item: names (or aliases of them) and places in lists. */
export type Path = readonly (string | number)[]

/** A value, if there is one. */
export type Operand = (scope: Scope) => AttributeValue | undefined

export function readPath(reader: Reader): Path {
  const steps: (string | number)[] = [readName(reader)]
  for (;;) {
    if (reader.took('.')) steps.push(readName(reader))
    else if (reader.took('[')) {
      const place = reader.next()
      if (!/^\d+$/.test(place)) reader.fail()
      steps.push(Number(place))
      reader.need(']')
    } else return steps
  }
}

export function readOperand(reader: Reader): Operand {
  const word = reader.peek()
  if (word.startsWith(':')) {
    reader.next()
    return ({ values }) => values[word]
  }
  const path = readPath(reader)
  return (scope) => valueAt(scope.item, resolved(path, scope))
}

/** The path with its aliases replaced. */
export function resolved(path: Path, { names }: Pick<Scope, 'names'>): Path {
  const found = [...path]
  for (const [i, step] of path.entries()) {
    if (typeof step === 'string' && step.startsWith('#')) found[i] = names[step] ?? step
  }
  return found
}

export function valueAt(item: Item, path: Path): AttributeValue | undefined {
  let found: AttributeValue | undefined = own(item, String(path[0]))
  for (let i = 1; i < path.length && found !== undefined; i += 1) found = inside(found, path[i] ?? '')
  return found
}

/** What lies at one step inside a list or map. */
export function inside({ M, L }: AttributeValue, step: string | number): AttributeValue | undefined {
  return typeof step === 'number' ? L?.[step] : M && own(M, step)
}

/** What size() is of a value; undefined where it has none. */
export function countOf(value: AttributeValue | undefined): AttributeValue | undefined {
  if (value === undefined) return undefined
  const { type, raw } = typed(value)
  const count = kindOf(type).count?.(raw)
  return count === undefined ? undefined : { N: String(count) }
}

function readName(reader: Reader): string {
  const word = reader.next()
  if (!/^#?[A-Za-z0-9_]+$/.test(word) || KEYWORDS.has(word.toUpperCase())) reader.fail()
  return word
}

const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'BETWEEN', 'IN', 'SET', 'REMOVE', 'ADD', 'DELETE'])

function own(map: Readonly<Record<string, AttributeValue>>, name: string): AttributeValue | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined
}
