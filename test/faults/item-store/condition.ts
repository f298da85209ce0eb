import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { kindOf, sameValue, typed } from './kinds.ts'
import { countOf, type Operand, type Path, readOperand, readPath, resolved, type Scope, valueAt } from './operands.ts'
import type { Reader } from './reader.ts'
import { invalid } from './refusals.ts'

export type Condition = (scope: Scope) => boolean

/** OR of ANDs of NOTs, as DynamoDB binds them. `paths`: every attribute it looks at, for who must forbid some. */
export function readCondition(reader: Reader, paths: Path[]): Condition {
  const parts = [readAll(reader, paths)]
  while (reader.took('OR')) parts.push(readAll(reader, paths))
  return single(parts) ?? ((scope) => parts.some((part) => part(scope)))
}

function readAll(reader: Reader, paths: Path[]): Condition {
  const parts = [readOne(reader, paths)]
  while (reader.took('AND')) parts.push(readOne(reader, paths))
  return single(parts) ?? ((scope) => parts.every((part) => part(scope)))
}

function single(parts: readonly Condition[]): Condition | undefined {
  return parts.length === 1 ? parts[0] : undefined
}

function readOne(reader: Reader, paths: Path[]): Condition {
  if (reader.took('NOT')) {
    const inner = readOne(reader, paths)
    return (scope) => !inner(scope)
  }
  if (reader.took('(')) {
    const inner = readCondition(reader, paths)
    reader.need(')')
    if (GROUPS.has(inner)) throw invalid('The expression has redundant parentheses')
    GROUPS.add(inner)
    return inner
  }
  const call = CALLS.get(reader.peek())
  if (call !== undefined) {
    reader.next()
    return call(reader, paths)
  }
  return readComparison(reader, paths)
}

/** Conditions that were read out of parentheses. */
const GROUPS = new WeakSet<Condition>()

const CALLS = new Map<string, (reader: Reader, paths: Path[]) => Condition>(
  Object.entries({
    attribute_exists: (reader: Reader, paths: Path[]) => {
      const path = readArgument(reader, paths)
      return (scope) => valueAt(scope.item, resolved(path, scope)) !== undefined
    },
    attribute_not_exists: (reader: Reader, paths: Path[]) => {
      const path = readArgument(reader, paths)
      return (scope) => valueAt(scope.item, resolved(path, scope)) === undefined
    },
    contains: ofTwo(contains),
    begins_with: ofTwo(begins),
  }),
)

/** A function of two sides: paths or values. */
function ofTwo(holds: (first: Value, second: Value) => boolean) {
  return (reader: Reader, paths: Path[]) => {
    reader.need('(')
    const first = readSide(reader, paths)
    reader.need(',')
    const second = readSide(reader, paths)
    reader.need(')')
    return (scope: Scope) => holds(first(scope), second(scope))
  }
}

function readArgument(reader: Reader, paths: Path[]): Path {
  reader.need('(')
  const path = readPath(reader)
  reader.need(')')
  paths.push(path)
  return path
}

function readComparison(reader: Reader, paths: Path[]): Condition {
  const left = readSide(reader, paths)
  if (reader.took('BETWEEN')) {
    const low = readSide(reader, paths)
    reader.need('AND')
    const high = readSide(reader, paths)
    return (scope) => between(left(scope), low(scope), high(scope))
  }
  const compare = COMPARISONS.get(reader.next()) ?? reader.fail()
  const right = readSide(reader, paths)
  return (scope) => compare(left(scope), right(scope))
}

/** A path, a value, or the size() of a path. */
function readSide(reader: Reader, paths: Path[]): Operand {
  if (reader.took('size')) {
    const path = readArgument(reader, paths)
    return (scope) => countOf(valueAt(scope.item, resolved(path, scope)))
  }
  if (reader.peek().startsWith(':')) return readOperand(reader)
  const path = readPath(reader)
  paths.push(path)
  return (scope) => valueAt(scope.item, resolved(path, scope))
}

type Value = AttributeValue | undefined

/** What is not there is not equal to anything, and neither before nor after. */
const COMPARISONS = new Map<string, (a: Value, b: Value) => boolean>(
  Object.entries({
    '=': sameValue,
    '<>': (a: Value, b: Value) => !sameValue(a, b),
    '<': (a: Value, b: Value) => ordered(a, b, (sign) => sign < 0),
    '<=': (a: Value, b: Value) => ordered(a, b, (sign) => sign <= 0),
    '>': (a: Value, b: Value) => ordered(a, b, (sign) => sign > 0),
    '>=': (a: Value, b: Value) => ordered(a, b, (sign) => sign >= 0),
  }),
)

function ordered(a: Value, b: Value, wanted: (sign: number) => boolean): boolean {
  if (a === undefined || b === undefined) return false
  const [mine, theirs] = [typed(a), typed(b)]
  const { order } = kindOf(mine.type)
  return mine.type === theirs.type && order !== undefined && wanted(order(mine.raw, theirs.raw))
}

function between(value: Value, low: Value, high: Value): boolean {
  if (ordered(high, low, (sign) => sign < 0)) throw invalid(BACKWARDS)
  return ordered(value, low, (sign) => sign >= 0) && ordered(value, high, (sign) => sign <= 0)
}

const BACKWARDS =
  'Invalid ConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound'

/** A text has a part; a set or a list has a member. Anything else contains nothing. */
function contains(whole: Value, part: Value): boolean {
  if (whole === undefined || part === undefined) return false
  if (whole.S !== undefined && part.S !== undefined) return whole.S.includes(part.S)
  if (whole.SS !== undefined && part.S !== undefined) return whole.SS.includes(part.S)
  if (whole.NS !== undefined && part.N !== undefined) return whole.NS.map(Number).includes(Number(part.N))
  return whole.L?.some((member) => sameValue(member, part)) === true
}

function begins(whole: Value, start: Value): boolean {
  if (whole?.S !== undefined && start?.S !== undefined) return whole.S.startsWith(start.S)
  if (whole?.B !== undefined && start?.B !== undefined) {
    return Buffer.from(whole.B).subarray(0, start.B.length).equals(start.B)
  }
  return false
}
