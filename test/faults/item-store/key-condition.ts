import { type Operand, type Path, readOperand, readPath, resolved, type Scope } from './operands.ts'
import { compareText } from './order.ts'
import type { Reader } from './reader.ts'
import { invalid } from './refusals.ts'

/** Which partition, and where a sort key lies: before what is wanted (< 0), in it (0), or after it. */
export interface KeyRange {
  readonly hash: string
  place(range: string): number
}

export type KeyCondition = (scope: Scope, keys: { readonly hash: string; readonly range: string }) => KeyRange

type Place = (scope: Scope) => (range: string) => number

interface Part {
  readonly path: Path
  /** Set where it is an equality, as the partition's must be. */
  readonly equals?: Operand
  readonly place: Place
}

/** One condition on the partition key, and perhaps one on the sort key. */
export function readKeyCondition(reader: Reader): KeyCondition {
  const parts = [readPart(reader)]
  if (reader.took('AND')) parts.push(readPart(reader))
  return (scope, { hash, range }) => {
    const onHash = parts.find(({ path }) => isNamed(path, hash, scope))
    const onRange = parts.find(({ path }) => isNamed(path, range, scope))
    const wanted = onHash?.equals
    if (wanted === undefined) throw invalid(`Query condition missed key schema element: ${hash}`)
    if (parts.length === 2 && onRange === undefined) {
      throw invalid(`Query condition missed key schema element: ${range}`)
    }
    return { hash: textOf(wanted, scope), place: onRange === undefined ? () => 0 : onRange.place(scope) }
  }
}

function isNamed(path: Path, name: string, scope: Scope): boolean {
  return path.length === 1 && resolved(path, scope)[0] === name
}

function readPart(reader: Reader): Part {
  if (reader.took('(')) {
    const part = readPart(reader)
    reader.need(')')
    return part
  }
  if (reader.took('begins_with')) return readBegins(reader)
  const path = readPath(reader)
  if (reader.took('BETWEEN')) return readBetween(reader, path)
  const place = PLACES.get(reader.next()) ?? reader.fail()
  const equality = place === PLACES.get('=')
  const operand = readOperand(reader)
  const placeOf: Place = (scope) => {
    const value = textOf(operand, scope)
    return (range) => place(compareText(range, value))
  }
  return { path, place: placeOf, ...(equality ? { equals: operand } : {}) }
}

/** Where a sort key lies that compares so with the value. */
const PLACES: ReadonlyMap<string, (sign: number) => number> = new Map([
  ['=', (sign: number) => sign],
  ['<', (sign: number) => (sign < 0 ? 0 : 1)],
  ['<=', (sign: number) => (sign <= 0 ? 0 : 1)],
  ['>', (sign: number) => (sign > 0 ? 0 : -1)],
  ['>=', (sign: number) => (sign >= 0 ? 0 : -1)],
])

function readBegins(reader: Reader): Part {
  reader.need('(')
  const path = readPath(reader)
  reader.need(',')
  const operand = readOperand(reader)
  reader.need(')')
  const place: Place = (scope) => {
    const start = textOf(operand, scope)
    return (range) => (range.startsWith(start) ? 0 : compareText(range, start))
  }
  return { path, place }
}

function readBetween(reader: Reader, path: Path): Part {
  const low = readOperand(reader)
  reader.need('AND')
  const high = readOperand(reader)
  const place: Place = (scope) => {
    const [from, to] = [textOf(low, scope), textOf(high, scope)]
    if (compareText(from, to) > 0) throw invalid(BACKWARDS)
    return (range) => {
      if (compareText(range, from) < 0) return -1
      return compareText(range, to) > 0 ? 1 : 0
    }
  }
  return { path, place }
}

const BACKWARDS =
  'Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound'

/** Every key attribute of the table is a string. */
function textOf(operand: Operand, scope: Scope): string {
  const text = operand(scope)?.S
  if (text === undefined) {
    throw invalid('One or more parameter values were invalid: Condition parameter type does not match schema type')
  }
  return text
}
