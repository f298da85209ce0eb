import type jsonata from 'jsonata'
import type { Json } from '../../shared/text/json.ts'
import type { Job } from './isolate-messages.ts'
import { answerText } from './transform-answer.ts'

/**
 * JSONata that can do little: fields by name, constants, operators, conditions, and objects and lists of those, over a
 * small input. No function, variable, filter, order, wildcard or range, so its work is at most its length times the size
 * of the input, and a process of its own would cost a hundred times as much. Answers the JSON text of its value;
 * undefined: it is no such expression, or failed: then the isolate evaluates it, and says why in its own words.
 */
export async function evaluateBounded({ program, input }: Pick<Job, 'program' | 'input'>): Promise<string | undefined> {
  if (typeof program !== 'string' || program.length > MAX_CHARACTERS) return undefined
  const expression = await boundedExpression(program)
  if (expression === undefined || !isSmall(input)) return undefined
  try {
    // An object made of each entry of a list: JSONata puts an entry into the list where it is empty.
    const own = program.includes('{') ? structuredClone(input) : input
    return answerText(await expression.evaluate(own))
  } catch {
    return undefined
  }
}

/** Parsing is quadratic in the steps of a path. */
const MAX_CHARACTERS = 500
const MOST_KNOWN = 500
const known = new Map<string, jsonata.Expression | undefined>()

async function boundedExpression(program: string): Promise<jsonata.Expression | undefined> {
  if (known.has(program)) return known.get(program)
  if (known.size >= MOST_KNOWN) known.clear()
  const expression = await parsed(program)
  const bounded = expression !== undefined && isBounded(expression.ast()) ? expression : undefined
  known.set(program, bounded)
  return bounded
}

/** Functions that compute none do not load the language. */
async function parsed(program: string): Promise<jsonata.Expression | undefined> {
  const { default: read } = await import('jsonata')
  try {
    return read(program)
  } catch {
    return undefined
  }
}

const OPERATORS = new Set(['+', '-', '*', '/', '%', '&', '=', '!=', '<', '<=', '>', '>=', 'and', 'or', 'in'])
/** What every object has: a field of such a name is looked for where it cannot be found. */
const OF_ALL_OBJECTS = new Set(Object.getOwnPropertyNames(Object.prototype))

type Node = Readonly<Record<string, unknown>>

/** Members of JSONata's nodes that say where they stand, and those below; another member is something unknown here. */
const SHAPES: Readonly<Record<string, (node: Node) => boolean>> = {
  string: hasOnly('value'),
  number: hasOnly('value'),
  value: hasOnly('value'),
  name: (node) => hasOnly('value')(node) && !OF_ALL_OBJECTS.has(String(node.value)),
  path: (node) => hasOnly('steps')(node) && all(node.steps, isStep),
  condition: (node) =>
    hasOnly('condition', 'then', 'else')(node) && [node.condition, node.then, node.else ?? CONSTANT].every(isBounded),
  block: (node) => hasOnly('expressions')(node) && all(node.expressions, isBounded),
  binary: (node) =>
    hasOnly('value', 'lhs', 'rhs')(node) &&
    OPERATORS.has(String(node.value)) &&
    [node.lhs, node.rhs].every(node.value === '&' ? isBoundedText : isBounded),
  unary: isUnary,
}

const CONSTANT: Node = { type: 'value', value: null }

function isBounded(node: unknown): boolean {
  if (!isNode(node) || typeof node.type !== 'string' || !Object.hasOwn(SHAPES, node.type)) return false
  return SHAPES[node.type]?.(node) ?? false
}

/**
 * What `&` makes a text of. A list or an object that is made there could hold the text of another `&`, whose quotes and
 * backslashes double with each: a hundred of them fit into an expression.
 */
function isBoundedText(node: unknown): boolean {
  return isBounded(node) && !makesValues(node)
}

function makesValues(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(makesValues)
  if (!isNode(node)) return false
  return (node.type === 'unary' && node.value !== '-') || Object.values(node).some(makesValues)
}

/** Of a path: what stands behind the first step is looked for in what that came to. */
function isStep(step: unknown, at: number): boolean {
  if (!isNode(step)) return false
  return step.type === 'name' || (step.type === 'unary' && step.value === '{' && at > 0) ? isBounded(step) : false
}

function isUnary(node: Node): boolean {
  if (node.value === '-') return hasOnly('value', 'expression')(node) && isBounded(node.expression)
  if (node.value === '[') return hasOnly('value', 'expressions')(node) && all(node.expressions, isBounded)
  return node.value === '{' && hasOnly('value', 'lhs')(node) && all(node.lhs, isMember)
}

function isMember(pair: unknown): boolean {
  if (!Array.isArray(pair)) return false
  const [key, value]: readonly unknown[] = pair
  return isNode(key) && key.type === 'string' && !OF_ALL_OBJECTS.has(String(key.value)) && isBounded(value)
}

function hasOnly(...members: readonly string[]): (node: Node) => boolean {
  const allowed = new Set(['type', 'position', ...members])
  return (node) => Object.keys(node).every((member) => allowed.has(member))
}

function all(list: unknown, is: (one: unknown, at: number) => boolean): boolean {
  return Array.isArray(list) && list.every(is)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

/** Values and characters looked at before an input counts as large. */
const MOST_VALUES = 2_000
const MOST_TEXT = 65_536

function isSmall(input: Json): boolean {
  const left: Json[] = [input]
  let [values, characters] = [0, 0]
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    values += 1
    if (typeof one === 'string') characters += one.length
    else if (typeof one === 'object' && one !== null) left.push(...Object.values(one))
    if (values + left.length > MOST_VALUES || characters > MOST_TEXT) return false
  }
  return true
}
