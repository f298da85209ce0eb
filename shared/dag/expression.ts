import jsep from 'jsep'
import { canonicalJson, type Json } from '../text/json.ts'

/** Limits of one expression (docs/limits-and-costs.md): characters, and nesting after parsing. */
const MAX_CHARACTERS = 1_000
const MAX_DEPTH = 20

/** A checked expression: plain data. `paths` are the places it reads, roots first: `outputs.plan.length` -> [outputs, plan, length]. */
interface Expression {
  readonly node: Node
  readonly paths: readonly (readonly string[])[]
}

type Node =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'path'; readonly path: readonly string[] }
  | { readonly kind: 'unary'; readonly operator: string; readonly operand: Node }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: Node; readonly right: Node }
  | { readonly kind: 'choice'; readonly test: Node; readonly yes: Node; readonly no: Node }

/**
 * Parses an expression of the allow-list: literals, own-property paths of named roots (`inputs.plan`,
 * `inputs.rows[0]`, `inputs["a-b"]`), `! -`, `&& || == != === !== < <= > >= in + - * / %`, `?:` and `.length`. Calls,
 * assignments, `this` and everything else are refused with the reason; so are more than 1,000 characters or 20 levels.
 * With `dashes`, a dash inside a word belongs to it, as in ids of blocks; `$` is refused then.
 */
export function parseExpression(
  source: string,
  options: { readonly dashes?: boolean } = {},
): { readonly ok: true; readonly expression: Expression } | { readonly ok: false; readonly message: string } {
  if (source.trim() === '') return { ok: false, message: 'the expression is empty' }
  if (source.length > MAX_CHARACTERS) {
    return { ok: false, message: `the expression has ${source.length} characters, the limit is ${MAX_CHARACTERS}` }
  }
  if (options.dashes === true && source.includes('$')) return { ok: false, message: '"$" is not allowed' }
  const parsed = parseSource(
    options.dashes === true ? source.replace(DASHED, (name) => name.replaceAll('-', '$')) : source,
  )
  if (typeof parsed === 'string') return { ok: false, message: parsed }
  const reader: Reader = { paths: [], problem: undefined, plain: (name) => name }
  if (options.dashes === true) reader.plain = (name) => name.replaceAll('$', '-')
  const node = readNode(parsed, 1, reader)
  if (reader.problem !== undefined) return { ok: false, message: reader.problem }
  return { ok: true, expression: { node, paths: reader.paths } }
}

/**
 * Evaluates over named roots; total: it never throws and reads own properties only. What is missing, or has a type
 * the operator does not know, is `undefined` (unknown) and stays unknown, so that a negated test of a missing value
 * does not pass by accident; `x == null` asks for it. `&&`, `||` and `?:` go by JavaScript's truth and skip the rest.
 */
export function evaluateExpression(expression: Expression, roots: Readonly<Record<string, Json>>): Json | undefined {
  return evaluate(expression.node, roots)
}

function evaluate(node: Node, roots: Readonly<Record<string, Json>>): Json | undefined {
  switch (node.kind) {
    case 'value':
      return node.value
    case 'path':
      return valueAt(roots, node.path)
    case 'unary':
      return applyUnary(node.operator, evaluate(node.operand, roots))
    case 'choice': {
      const test = evaluate(node.test, roots)
      return test === undefined ? undefined : evaluate(test ? node.yes : node.no, roots)
    }
    case 'binary': {
      const left = evaluate(node.left, roots)
      if (node.operator === '&&' && !left) return left
      if (node.operator === '||' && left) return left
      return applyBinary(node.operator, left, evaluate(node.right, roots))
    }
  }
}

function valueAt(roots: Readonly<Record<string, Json>>, path: readonly string[]): Json | undefined {
  let value: Json | undefined = roots
  for (const key of path) value = memberOf(value, key)
  return value
}

function memberOf(value: Json | undefined, key: string): Json | undefined {
  if (typeof value === 'string') return key === 'length' ? [...value].length : undefined
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  if (Array.isArray(value)) return key === 'length' ? value.length : value[Number(key)]
  return (value as Readonly<Record<string, Json>>)[key]
}

interface Reader {
  readonly paths: (readonly string[])[]
  /** The first thing that is not allowed. */
  problem: string | undefined
  /** An identifier as it was written. */
  plain: (name: string) => string
}

function parseSource(source: string): jsep.Expression | string {
  try {
    return jsep(source)
  } catch (cause) {
    // jsep throws Error with the position in its message, and RangeError for hundreds of brackets.
    return cause instanceof Error ? `the expression cannot be read: ${cause.message}` : 'the expression cannot be read'
  }
}

function readNode(from: jsep.Expression, depth: number, reader: Reader): Node {
  if (depth > MAX_DEPTH) return refuseNode(reader, `the expression nests deeper than ${MAX_DEPTH} levels`)
  const node = from as jsep.CoreExpression
  switch (node.type) {
    case 'Literal':
      return literal(node, reader)
    case 'Identifier':
    case 'MemberExpression': {
      const path = pathOf(node, reader)
      reader.paths.push(path)
      return { kind: 'path', path }
    }
    case 'UnaryExpression':
      if (!isOperator(node.operator, 1)) return refuseNode(reader, `operator "${node.operator}" is not allowed`)
      return { kind: 'unary', operator: node.operator, operand: readNode(node.argument, depth + 1, reader) }
    case 'BinaryExpression':
      return readBinary(node, depth, reader)
    case 'ConditionalExpression': {
      const [test, yes, no] = [node.test, node.consequent, node.alternate]
      const read = (part: jsep.Expression) => readNode(part, depth + 1, reader)
      return { kind: 'choice', test: read(test), yes: read(yes), no: read(no) }
    }
    default:
      return refuseNode(reader, NOT_ALLOWED[node.type] ?? `${node.type} is not allowed`)
  }
}

function readBinary(node: jsep.BinaryExpression, depth: number, reader: Reader): Node {
  const { operator } = node
  if (!isOperator(operator, 2)) return refuseNode(reader, `operator "${operator}" is not allowed`)
  // `a && b && c` is one level to its reader, though the tree leans to the left.
  const chained = node.left.type === 'BinaryExpression' && node.left.operator === operator
  const left = readNode(node.left, chained ? depth : depth + 1, reader)
  return { kind: 'binary', operator, left, right: readNode(node.right, depth + 1, reader) }
}

function literal(node: jsep.Literal, reader: Reader): Node {
  const { value, raw } = node
  if (typeof value === 'string' && /\\[^nrtbfv\\'"]/.test(raw)) {
    return refuseNode(
      reader,
      `the text ${raw.slice(0, 80)} has an escape that is not one of \\n \\r \\t \\b \\f \\v \\\\ \\' \\"`,
    )
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return refuseNode(reader, `the number ${raw} is too large`)
  // With the default literals (true, false, null) a jsep literal is never a RegExp.
  return { kind: 'value', value: typeof value === 'string' ? reader.plain(value) : (value as Json) }
}

/** Walks from the last member to the root; a computed member must be a literal, so that what is read is known at parse. */
function pathOf(from: jsep.Identifier | jsep.MemberExpression, reader: Reader): string[] {
  const path: string[] = []
  let node: jsep.Expression = from
  while (node.type === 'MemberExpression') {
    const member = node as jsep.MemberExpression
    path.push(keyOf(member, reader))
    node = member.object
  }
  if (node.type === 'Identifier') path.push(reader.plain((node as jsep.Identifier).name))
  else refuseNode(reader, 'members can be read only from a named root such as inputs or outputs')
  if (path.some((key) => RESERVED_KEYS.has(key))) refuseNode(reader, `"${path.toReversed().join('.')}" is not allowed`)
  return path.reverse()
}

function keyOf(member: jsep.MemberExpression, reader: Reader): string {
  const property = member.property as jsep.CoreExpression
  if (!member.computed && property.type === 'Identifier') return reader.plain(property.name)
  const key = property.type === 'Literal' ? property.value : undefined
  if (typeof key === 'string' || (typeof key === 'number' && Number.isSafeInteger(key))) return String(key)
  refuseNode(reader, 'a member in brackets must be a literal text or whole number')
  return ''
}

function refuseNode(reader: Reader, problem: string): Node {
  reader.problem ??= problem
  return { kind: 'value', value: null }
}

/** A word with dashes: ids may have them, and nothing is subtracted where they are read. */
const DASHED = /(?<![\w$])[A-Za-z_]\w*(?:-\w+)+/g

const RESERVED_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

const NOT_ALLOWED: Readonly<Record<string, string>> = {
  CallExpression: 'calls are not allowed in an expression',
  ThisExpression: '"this" is not allowed; name a root such as inputs or outputs',
  ArrayExpression: 'list literals are not allowed in an expression',
  Compound: 'an expression is one value; several follow each other here (an operator is missing, or is not known)',
  SequenceExpression: 'an expression is one value; commas are not allowed',
}

// jsep keeps its grammar in one table of the process; `in` is the only word we add (precedence of `<`).
jsep.addBinaryOp('in', 7)

type Operation = (left: Json, right: Json) => Json | undefined

/** Whether an operator of so many operands is allowed. */
function isOperator(operator: string, operands: 1 | 2): boolean {
  if (operands === 1) return operator === '!' || operator === '-'
  return operator === '&&' || operator === '||' || EQUALITY.has(operator) || OPERATIONS.has(operator)
}

/** `undefined` is unknown and stays unknown. */
function applyUnary(operator: string, value: Json | undefined): Json | undefined {
  if (value === undefined) return undefined
  if (operator === '!') return !value
  return typeof value === 'number' ? -value : undefined
}

/**
 * One operator on two values. No conversions: `==` is `===`, objects are compared by content, order is known between
 * two numbers or two texts, `+` adds numbers or joins texts. `in` finds a key of an object, an item of a list or a
 * part of a text. Only a comparison with null asks whether a value is missing.
 */
function applyBinary(operator: string, left: Json | undefined, right: Json | undefined): Json | undefined {
  if (operator === '&&' || operator === '||') return right
  if (left === undefined || right === undefined) return comparedWithNull(operator, left === undefined ? right : left)
  const equality = EQUALITY.get(operator)
  if (equality !== undefined) return sameValue(left, right) === equality
  return OPERATIONS.get(operator)?.(left, right)
}

/** The operators of equality, with the answer for equal values. */
const EQUALITY: ReadonlyMap<string, boolean> = new Map([
  ['==', true],
  ['===', true],
  ['!=', false],
  ['!==', false],
])

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['<', ordered((sign) => sign < 0)],
  ['<=', ordered((sign) => sign <= 0)],
  ['>', ordered((sign) => sign > 0)],
  ['>=', ordered((sign) => sign >= 0)],
  ['+', (a, b) => (typeof a === 'string' && typeof b === 'string' ? a + b : arithmetic((x, y) => x + y)(a, b))],
  ['-', arithmetic((a, b) => a - b)],
  ['*', arithmetic((a, b) => a * b)],
  ['/', arithmetic((a, b) => a / b)],
  ['%', arithmetic((a, b) => a % b)],
  ['in', isIn],
])

function comparedWithNull(operator: string, other: Json | undefined): Json | undefined {
  return other === null ? EQUALITY.get(operator) : undefined
}

function sameValue(left: Json, right: Json): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  return canonicalJson(left) === canonicalJson(right)
}

function ordered(holds: (sign: number) => boolean): Operation {
  return (left, right) => {
    const comparable = typeof left === typeof right && (typeof left === 'number' || typeof left === 'string')
    if (!comparable || left === null || right === null) return undefined
    return holds(left < right ? -1 : left > right ? 1 : 0)
  }
}

function arithmetic(compute: (a: number, b: number) => number): Operation {
  return (left, right) => {
    if (typeof left !== 'number' || typeof right !== 'number') return undefined
    const value = compute(left, right)
    return Number.isFinite(value) ? value : undefined
  }
}

function isIn(part: Json, whole: Json): Json | undefined {
  if (typeof whole === 'string') return typeof part === 'string' ? whole.includes(part) : undefined
  if (Array.isArray(whole)) return whole.some((item: Json) => sameValue(item, part))
  if (typeof whole !== 'object' || whole === null || typeof part !== 'string') return undefined
  return Object.hasOwn(whole, part)
}

/** What `depends` may ask of a block: each is true or false once the block has ended. */
export const OUTCOMES = ['succeeded', 'failed', 'skipped', 'completed', 'cancelled', 'done'] as const

type ReadDepends =
  | {
      readonly ok: true
      readonly expression: Expression
      /** Ids it names, in the order of their first mention. */
      readonly blocks: readonly string[]
    }
  | { readonly ok: false; readonly message: string }

/**
 * Reads a `depends`: an expression whose roots are block ids (dashes belong to them), each with one of OUTCOMES.
 * Evaluate it over `{ [id]: { succeeded: true, .. } }`. Whether the blocks exist is the caller's to say.
 */
export function parseDepends(source: string): ReadDepends {
  const parsed = parseExpression(source, { dashes: true })
  if (!parsed.ok) return parsed
  const { expression } = parsed
  for (const [block = '', outcome, ...more] of expression.paths) {
    if (outcome === undefined) return refuseDepends(`${block} alone says nothing; write ${block}.succeeded`)
    if (more.length > 0 || !OUTCOMES.some((known) => known === outcome)) {
      return refuseDepends(
        `"${[block, outcome, ...more].join('.')}" is no outcome; outcomes are ${OUTCOMES.join(', ')}`,
      )
    }
  }
  return { ok: true, expression, blocks: [...new Set(expression.paths.map(([block = '']) => block))] }
}

function refuseDepends(message: string): ReadDepends {
  return { ok: false, message }
}
