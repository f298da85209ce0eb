import jsep from 'jsep'
import { canonicalJson, type Json } from '../canonical.ts'

// jsep keeps its grammar in one table of the process; `in` is the only word we add (precedence of `<`).
jsep.addBinaryOp('in', 7)

type Operation = (left: Json, right: Json) => Json | undefined

/** Whether an operator of so many operands is allowed. */
export function isOperator(operator: string, operands: 1 | 2): boolean {
  if (operands === 1) return operator === '!' || operator === '-'
  return operator === '&&' || operator === '||' || EQUALITY.has(operator) || OPERATIONS.has(operator)
}

/** `undefined` is unknown and stays unknown. */
export function applyUnary(operator: string, value: Json | undefined): Json | undefined {
  if (value === undefined) return undefined
  if (operator === '!') return !value
  return typeof value === 'number' ? -value : undefined
}

/**
 * One operator on two values. No conversions: `==` is `===`, objects are compared by content, order is known between
 * two numbers or two texts, `+` adds numbers or joins texts. `in` finds a key of an object, an item of a list or a
 * part of a text. Only a comparison with null asks whether a value is missing.
 */
export function applyBinary(operator: string, left: Json | undefined, right: Json | undefined): Json | undefined {
  if (operator === '&&' || operator === '||') return right
  if (left === undefined || right === undefined) return missing(operator, left === undefined ? right : left)
  const equality = EQUALITY.get(operator)
  if (equality !== undefined) return same(left, right) === equality
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
  ['<', order((sign) => sign < 0)],
  ['<=', order((sign) => sign <= 0)],
  ['>', order((sign) => sign > 0)],
  ['>=', order((sign) => sign >= 0)],
  ['+', (a, b) => (typeof a === 'string' && typeof b === 'string' ? a + b : arithmetic((x, y) => x + y)(a, b))],
  ['-', arithmetic((a, b) => a - b)],
  ['*', arithmetic((a, b) => a * b)],
  ['/', arithmetic((a, b) => a / b)],
  ['%', arithmetic((a, b) => a % b)],
  ['in', contains],
])

function missing(operator: string, other: Json | undefined): Json | undefined {
  return other === null ? EQUALITY.get(operator) : undefined
}

function same(left: Json, right: Json): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  return canonicalJson(left) === canonicalJson(right)
}

function order(holds: (sign: number) => boolean): Operation {
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

function contains(part: Json, whole: Json): Json | undefined {
  if (typeof whole === 'string') return typeof part === 'string' ? whole.includes(part) : undefined
  if (Array.isArray(whole)) return whole.some((item: Json) => same(item, part))
  if (typeof whole !== 'object' || whole === null || typeof part !== 'string') return undefined
  return Object.hasOwn(whole, part)
}
