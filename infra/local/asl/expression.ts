import jsonata from 'jsonata'
import type { Json } from '../../../shared/canonical.ts'
import { plainExpression, type States } from './plain-expression.ts'
import { StateError } from './state-error.ts'

/** An evaluated field; a promise only where jsonata had to be asked. */
export type Evaluate = (states: States) => Json | Promise<Json>

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
  const plain = plainExpression(expression.ast())
  const full = (states: States): Promise<Json> => evaluateFully(expression, text, states)
  if (plain === undefined) return full
  return (states) => plain(states) ?? full(states)
}

async function evaluateFully(expression: jsonata.Expression, text: string, states: States): Promise<Json> {
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
