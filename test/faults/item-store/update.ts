import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { type Draft, draftOf } from './draft.ts'
import { numberText, typed } from './kinds.ts'
import { inside, type Operand, type Path, readOperand, readPath, resolved, type Scope, valueAt } from './operands.ts'
import { requireDisjoint } from './paths.ts'
import type { Reader } from './reader.ts'
import { type Item, invalid } from './refusals.ts'

/** One clause part: what it writes to its path, worked out from the item as it was; undefined removes. */
interface Action {
  readonly path: Path
  readonly result: (scope: Scope, path: Path) => AttributeValue | undefined
}

export interface Update {
  /** Throws where the request itself is wrong, whatever the item. */
  check(scope: Pick<Scope, 'names'>, keys: readonly string[]): void
  /** The item after it. Every operand is read from the item before it. */
  apply(scope: Scope): Item
}

export function readUpdate(reader: Reader): Update {
  const actions: Action[] = []
  const seen = new Set<string>()
  while (reader.peek() !== '') {
    const word = reader.next().toUpperCase()
    const read = CLAUSES.get(word)
    if (read === undefined || seen.has(word)) reader.fail()
    seen.add(word)
    do actions.push(read(reader))
    while (reader.took(','))
  }
  return {
    check: (scope, keys) => check(actions, scope, keys),
    apply: (scope) => apply(actions, scope),
  }
}

const CLAUSES: ReadonlyMap<string, (reader: Reader) => Action> = new Map([
  ['SET', readSet],
  ['REMOVE', (reader: Reader): Action => ({ path: readPath(reader), result: () => undefined })],
  ['ADD', readAdd],
  ['DELETE', readDelete],
])

function readSet(reader: Reader): Action {
  const path = readPath(reader)
  reader.need('=')
  const sum = readSum(reader)
  return { path, result: (scope) => sum(scope) ?? missing() }
}

function missing(): never {
  throw invalid('The provided expression refers to an attribute that does not exist in the item')
}

function readSum(reader: Reader): Operand {
  const left = readTerm(reader)
  const sign = reader.took('+') ? 1 : reader.took('-') ? -1 : 0
  if (sign === 0) return left
  const right = readTerm(reader)
  return (scope) => plus(left(scope) ?? missing(), right(scope) ?? missing(), sign)
}

function plus({ N: a }: AttributeValue, { N: b }: AttributeValue, sign: 1 | -1): AttributeValue {
  if (a === undefined || b === undefined) throw wrongType()
  return { N: numberText(String(Number((Number(a) + sign * Number(b)).toPrecision(15)))) }
}

function wrongType() {
  return invalid('An operand in the update expression has an incorrect data type')
}

function readTerm(reader: Reader): Operand {
  if (reader.took('if_not_exists')) {
    const [there, other] = readPair(reader)
    return (scope) => there(scope) ?? other(scope)
  }
  if (!reader.took('list_append')) return readOperand(reader)
  const [first, second] = readPair(reader)
  return (scope) => {
    const [a, b] = [first(scope) ?? missing(), second(scope) ?? missing()]
    if (a.L === undefined || b.L === undefined) throw wrongType()
    return { L: [...a.L, ...b.L] }
  }
}

function readPair(reader: Reader): readonly [Operand, Operand] {
  reader.need('(')
  const first = readTerm(reader)
  reader.need(',')
  const second = readTerm(reader)
  reader.need(')')
  return [first, second]
}

function readAdd(reader: Reader): Action {
  const path = readPath(reader)
  const operand = readOperand(reader)
  return {
    path,
    result(scope, at) {
      const [was, more] = [valueAt(scope.item, at), operand(scope) ?? missing()]
      if (more.N !== undefined) return plus(was ?? { N: '0' }, more, 1)
      return was === undefined ? more : united(was, more)
    },
  }
}

function readDelete(reader: Reader): Action {
  const path = readPath(reader)
  const operand = readOperand(reader)
  return {
    path,
    result(scope, at) {
      const was = valueAt(scope.item, at)
      return was && without(was, operand(scope) ?? missing())
    },
  }
}

function united(was: AttributeValue, more: AttributeValue): AttributeValue {
  const [type, mine, theirs] = members(was, more)
  return memberValue(type, [...mine, ...theirs.filter((one) => !isIn(mine, one))])
}

/** A set that loses its last member is gone. */
function without(was: AttributeValue, less: AttributeValue): AttributeValue | undefined {
  const [type, mine, theirs] = members(was, less)
  const left = mine.filter((one) => !isIn(theirs, one))
  return left.length === 0 ? undefined : memberValue(type, left)
}

type Members = readonly (string | Uint8Array)[]

function members(a: AttributeValue, b: AttributeValue): readonly [type: string, mine: Members, theirs: Members] {
  const [mine, theirs] = [typed(a), typed(b)]
  if (mine.type !== theirs.type || !mine.type.endsWith('S') || mine.type === 'S') throw wrongType()
  return [mine.type, mine.raw, theirs.raw]
}

function isIn(set: Members, one: string | Uint8Array): boolean {
  return typeof one === 'string' ? set.includes(one) : set.some((other) => Buffer.from(one).equals(Buffer.from(other)))
}

function memberValue(type: string, raw: Members): AttributeValue {
  // `type` is the one of the set the members came from.
  return { [type]: raw } as unknown as AttributeValue
}

function check(actions: readonly Action[], scope: Pick<Scope, 'names'>, keys: readonly string[]): void {
  const paths = actions.map(({ path }) => resolved(path, scope))
  const key = paths.map(([first]) => first).find((name) => keys.includes(String(name)))
  if (key !== undefined) {
    const message = `One or more parameter values were invalid: Cannot update attribute ${key}. This attribute is part of the key`
    throw invalid(message)
  }
  requireDisjoint(paths, 'UpdateExpression')
}

function apply(actions: readonly Action[], scope: Scope): Item {
  const results = actions.map(({ path, result }) => {
    const at = resolved(path, scope)
    return { at, value: result(scope, at) }
  })
  const draft = draftOf(scope.item)
  for (const { at, value } of results) write(draft, at, value)
  return draft.done()
}

function write(draft: Draft, path: Path, value: AttributeValue | undefined): void {
  const parent = draft.parent(path)
  const last = path.at(-1) ?? ''
  if (parent === undefined || (typeof last === 'number' ? parent.L : parent.M) === undefined) {
    throw invalid('The document path provided in the update expression is invalid for update')
  }
  if (value !== undefined || inside(parent, last) !== undefined) draft.set(parent, last, value)
}
