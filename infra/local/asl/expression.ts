import jsonata from 'jsonata'
import type { Json } from '../../../shared/text/json.ts'
import { StateError } from './state-error.ts'

/** An evaluated field; a promise only where jsonata had to be asked. */
type Evaluate = (states: StatesVariable) => Json | Promise<Json>

const MARK = /^\{%([\s\S]*)%\}$/

/** Distinct texts kept compiled; machines of one compiler share a dozen. */
const MOST_COMPILED = 5_000
const compiled = new Map<string, Evaluate>()

/** The text between `{%` and `%}`, or undefined for a plain string. */
export function expressionIn(text: string): string | undefined {
  return MARK.exec(text)?.[1]?.trim()
}

/**
 * JSONata 2.0.6 as Step Functions has it: `$states`, `$parse`, no `$eval`; an undefined result or any error is
 * States.QueryEvaluationError. Compiled once a text. Throws jsonata's own error on bad syntax. `$now` and `$millis`
 * read the real clock; of AWS's extra functions only `$parse` is here ($partition, $range, $hash, $uuid are not).
 */
export function compileExpression(text: string): Evaluate {
  const known = compiled.get(text)
  if (known !== undefined) return known
  const made = compile(text)
  if (compiled.size >= MOST_COMPILED) compiled.clear()
  compiled.set(text, made)
  return made
}

function compile(text: string): Evaluate {
  const expression = jsonata(text)
  expression.assign('eval', undefined)
  expression.assign('parse', parse)
  const plain = compilePlainExpression(expression.ast())
  const full = (states: StatesVariable): Promise<Json> => evaluateFully(expression, text, states)
  if (plain === undefined) return full
  return (states) => plain(states) ?? full(states)
}

async function evaluateFully(expression: jsonata.Expression, text: string, states: StatesVariable): Promise<Json> {
  let json: string | undefined
  try {
    // Copied through JSON: jsonata marks its arrays, and the marks would change what the next expression sees.
    json = JSON.stringify(await expression.evaluate(undefined, { states }), refuseFunctions)
  } catch (error) {
    throw queryError(text, messageOf(error))
  }
  if (json === undefined) throw queryError(text, 'returned nothing (undefined)')
  return JSON.parse(json)
}

/** jsonata's own functions are objects, native ones are not. */
function refuseFunctions(_key: string, value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null
  if (typeof value === 'function' || (isObject && ('_jsonata_function' in value || '_jsonata_lambda' in value))) {
    throw new TypeError('the result has a function in it')
  }
  return value
}

function parse(text: unknown): unknown {
  if (text === undefined) return undefined
  if (typeof text !== 'string') throw new TypeError('$parse() takes a string')
  return JSON.parse(text)
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error)
}

function queryError(text: string, seen: string): StateError {
  return new StateError('States.QueryEvaluationError', `The JSONata expression '${text}' failed: ${seen}`)
}

/** `$states` of one evaluation. */
export interface StatesVariable {
  readonly input: Json
  readonly result?: Json
  readonly errorOutput?: Json
  readonly context: Json
}

/** Answers the value, or undefined where jsonata itself has to decide (missing member, array on the way, ...). */
type Plain = (states: StatesVariable) => Json | undefined

type Node = jsonata.ExprNode

/**
 * A direct evaluator for the expressions machines are full of: literals, paths of `$states`, objects of them and `=`
 * between them. Held equal to jsonata by a property test; everything else answers undefined: use jsonata.
 */
export function compilePlainExpression(node: Node): Plain | undefined {
  if (node.type === 'string' || node.type === 'number' || node.type === 'value') return literal(node)
  // jsonata's type names lack 'path'.
  if ((node.type as string) === 'path') return statesPath(node)
  if (node.type === 'unary' && node.value === '{') return plainObject(node)
  if (node.type === 'binary' && node.value === '=') return plainEquals(node)
  return undefined
}

function literal(node: Node): Plain {
  const value: Json = node.value
  return () => value
}

function statesPath(node: Node): Plain | undefined {
  const [first, ...rest] = node.steps ?? []
  const plain = onlyKeys(node, ['type', 'steps', 'position']) && [first, ...rest].every(isPlainStep)
  if (!plain || first?.type !== 'variable' || first.value !== 'states') return undefined
  if (rest.length === 0 || rest.some((step) => step.type !== 'name')) return undefined
  const names: readonly string[] = rest.map((step) => step.value)
  return (states) => {
    let value: unknown = states
    for (const name of names) {
      if (!isPlainObject(value) || !Object.hasOwn(value, name)) return undefined
      value = value[name]
    }
    return value as Json | undefined
  }
}

function plainObject(node: Node): Plain | undefined {
  // Pairs, though jsonata's types say a list of nodes.
  const pairs = (node.lhs ?? []) as unknown as readonly (readonly [Node, Node])[]
  if (!onlyKeys(node, ['type', 'value', 'lhs', 'position'])) return undefined
  const members = pairs.map(
    ([key, value]) => [key.type === 'string' ? key.value : '', compilePlainExpression(value)] as const,
  )
  const names = new Set(members.map(([key]) => key))
  if (names.size !== members.length || names.has('') || names.has('__proto__')) return undefined
  return (states) => {
    const built: Record<string, Json> = {}
    for (const [key, evaluate] of members) {
      const value = evaluate?.(states)
      if (value === undefined) return undefined
      built[key] = value
    }
    return built
  }
}

function plainEquals(node: Node): Plain | undefined {
  if (!onlyKeys(node, ['type', 'value', 'lhs', 'rhs', 'position']) || Array.isArray(node.lhs)) return undefined
  const left = node.lhs && compilePlainExpression(node.lhs)
  const right = node.rhs && compilePlainExpression(node.rhs)
  if (left === undefined || right === undefined) return undefined
  return (states) => {
    const a = left(states)
    const b = right(states)
    return isScalar(a) && isScalar(b) ? a === b : undefined
  }
}

function isPlainStep(step: Node | undefined): boolean {
  return step !== undefined && onlyKeys(step, ['type', 'value', 'position'])
}

/** Predicates, sorting, grouping and the like are further members of a node. */
function onlyKeys(node: Node, keys: readonly string[]): boolean {
  return Object.keys(node).every((key) => keys.includes(key))
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isScalar(value: Json | undefined): boolean {
  return value !== undefined && (value === null || typeof value !== 'object')
}

const COMPILED = Symbol('compiled fields')

/** A state, catcher or rule of a loaded definition; its compiled fields live and go with it. */
interface Owner {
  [COMPILED]?: Record<string, Evaluate>
}

/**
 * The field `key` of a state, catcher or rule: JSON with `{% %}` expressions anywhere in it, or one expression. A
 * missing expression result fails the whole field. Values are shared, not copied: nobody may change what this answers.
 */
export function compileField<K extends string>(owner: { readonly [key in K]?: unknown }, key: K): Evaluate {
  const { [COMPILED]: fields = {} } = owner as Owner
  const known = fields[key]
  if (known !== undefined) return known
  const made = compileTemplate(owner[key])
  fields[key] = made
  // The one thing ever added to a definition; a symbol is neither in its JSON nor among its entries.
  ;(owner as Owner)[COMPILED] = fields
  return made
}

function compileTemplate(template: unknown): Evaluate {
  if (typeof template === 'string') {
    const expression = expressionIn(template)
    return expression === undefined ? () => template : compileExpression(expression)
  }
  if (typeof template !== 'object' || template === null) return () => template as Json
  return compileObject(template)
}

function compileObject(template: object): Evaluate {
  const isList = Array.isArray(template)
  const parts = Object.entries(template).map(([key, part]) => ({
    key,
    constant: isConstant(part),
    evaluate: compileTemplate(part),
  }))
  if (parts.every((part) => part.constant)) return () => template as Json
  return (states) => {
    const built: Record<string, Json> | Json[] = isList ? [] : {}
    const waiting: Promise<void>[] = []
    for (const { key, evaluate } of parts) put(built, key, evaluate(states), waiting)
    return waiting.length === 0 ? built : Promise.all(waiting).then(() => built)
  }
}

function put(
  built: Record<string, Json> | Json[],
  key: string,
  value: ReturnType<Evaluate>,
  waiting: Promise<void>[],
): void {
  // A list is filled by its index names; both shapes take the key as it is.
  const target = built as Record<string, Json>
  if (value instanceof Promise) {
    target[key] = null
    const fill = (settled: Json): void => {
      target[key] = settled
    }
    waiting.push(value.then(fill))
  } else {
    target[key] = value
  }
}

function isConstant(part: unknown): boolean {
  if (typeof part === 'string') return expressionIn(part) === undefined
  return typeof part !== 'object' || part === null || Object.values(part).every(isConstant)
}
