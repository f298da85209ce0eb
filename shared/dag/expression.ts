import jsep from 'jsep'
import type { Json } from '../canonical.ts'
import { applyBinary, applyUnary, isOperator } from './operator.ts'

/** Limits of one expression (docs/limits-and-costs.md): characters, and nesting after parsing. */
const MAX_CHARACTERS = 1_000
const MAX_DEPTH = 20

/** A checked expression: plain data. `paths` are the places it reads, roots first: `outputs.plan.length` -> [outputs, plan, length]. */
export interface Expression {
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
 * With `dashes`, a dash inside a word belongs to it, as in ids of blocks (depends.ts); `$` is refused then.
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
  if (depth > MAX_DEPTH) return refuse(reader, `the expression nests deeper than ${MAX_DEPTH} levels`)
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
      if (!isOperator(node.operator, 1)) return refuse(reader, `operator "${node.operator}" is not allowed`)
      return { kind: 'unary', operator: node.operator, operand: readNode(node.argument, depth + 1, reader) }
    case 'BinaryExpression':
      return readBinary(node, depth, reader)
    case 'ConditionalExpression': {
      const [test, yes, no] = [node.test, node.consequent, node.alternate]
      const read = (part: jsep.Expression) => readNode(part, depth + 1, reader)
      return { kind: 'choice', test: read(test), yes: read(yes), no: read(no) }
    }
    default:
      return refuse(reader, NOT_ALLOWED[node.type] ?? `${node.type} is not allowed`)
  }
}

function readBinary(node: jsep.BinaryExpression, depth: number, reader: Reader): Node {
  const { operator } = node
  if (!isOperator(operator, 2)) return refuse(reader, `operator "${operator}" is not allowed`)
  // `a && b && c` is one level to its reader, though the tree leans to the left.
  const chained = node.left.type === 'BinaryExpression' && node.left.operator === operator
  const left = readNode(node.left, chained ? depth : depth + 1, reader)
  return { kind: 'binary', operator, left, right: readNode(node.right, depth + 1, reader) }
}

function literal(node: jsep.Literal, reader: Reader): Node {
  const { value, raw } = node
  if (typeof value === 'string' && /\\[^nrtbfv\\'"]/.test(raw)) {
    return refuse(
      reader,
      `the text ${raw.slice(0, 80)} has an escape that is not one of \\n \\r \\t \\b \\f \\v \\\\ \\' \\"`,
    )
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return refuse(reader, `the number ${raw} is too large`)
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
  else refuse(reader, 'members can be read only from a named root such as inputs or outputs')
  if (path.some((key) => RESERVED.has(key))) refuse(reader, `"${path.toReversed().join('.')}" is not allowed`)
  return path.reverse()
}

function keyOf(member: jsep.MemberExpression, reader: Reader): string {
  const property = member.property as jsep.CoreExpression
  if (!member.computed && property.type === 'Identifier') return reader.plain(property.name)
  const key = property.type === 'Literal' ? property.value : undefined
  if (typeof key === 'string' || (typeof key === 'number' && Number.isSafeInteger(key))) return String(key)
  refuse(reader, 'a member in brackets must be a literal text or whole number')
  return ''
}

function refuse(reader: Reader, problem: string): Node {
  reader.problem ??= problem
  return { kind: 'value', value: null }
}

/** A word with dashes: ids may have them, and nothing is subtracted where they are read. */
const DASHED = /(?<![\w$])[A-Za-z_]\w*(?:-\w+)+/g

const RESERVED = new Set(['__proto__', 'constructor', 'prototype'])

const NOT_ALLOWED: Readonly<Record<string, string>> = {
  CallExpression: 'calls are not allowed in an expression',
  ThisExpression: '"this" is not allowed; name a root such as inputs or outputs',
  ArrayExpression: 'list literals are not allowed in an expression',
  Compound: 'an expression is one value; several follow each other here (an operator is missing, or is not known)',
  SequenceExpression: 'an expression is one value; commas are not allowed',
}
