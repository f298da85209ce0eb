import { Fault } from '../errors.ts'
import { inexactNumbers, inexactNumberWords } from './inexact-numbers.ts'
import { jsonProblem } from './json-limits.ts'

/**
 * Parses JSON that came from outside. One linear scan before the parser refuses what a parser would accept silently
 * or choke on: deeper than 64 levels (json_too_deep), the same key twice in one object (duplicate_key), and the keys
 * `__proto__`, `constructor`, `prototype` (forbidden_key). Bad syntax is json_syntax; what JSON's grammar allows but no
 * hash can be made of is number_too_large or half_character, and a number that a double would change number_inexact. All
 * are Fault InvalidInput.
 */
export function readStrictJson(text: string): unknown {
  scan(text)
  const value = parsed(text)
  refuseChanged(text)
  const problem = jsonProblem(value)
  if (problem === undefined) return value
  throw new Fault('InvalidInput', problem.code, `Cannot read the body: ${problem.text}.`)
}

function refuseChanged(text: string): void {
  const [changed] = inexactNumbers(text)
  if (changed === undefined) return
  const before = text.slice(0, changed.at).split('\n')
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
  const message = `Cannot read the body: ${place}: ${inexactNumberWords(changed)}.`
  throw new Fault('InvalidInput', 'number_inexact', message)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const seen = cause instanceof Error ? cause.message : String(cause)
    throw new Fault('InvalidInput', 'json_syntax', `Cannot read the body as JSON: ${seen}.`, { cause })
  }
}

const MAX_DEPTH = 64
const QUOTE = 34
const COLON = 58
const BACKSLASH = 92
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])

/** The keys seen in each open object; undefined for an open array. */
type Open = (Set<string> | undefined)[]

function scan(text: string): void {
  const open: Open = []
  let at = 0
  while (at < text.length) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      at = passString(text, at, open)
      continue
    }
    if (char === OPEN_OBJECT) push(open, new Set())
    else if (char === OPEN_ARRAY) push(open, undefined)
    else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) open.pop()
    at += 1
  }
}

function push(open: Open, keys: Set<string> | undefined): void {
  if (open.length >= MAX_DEPTH) {
    throw new Fault(
      'InvalidInput',
      'json_too_deep',
      `Cannot read the body: JSON nests deeper than ${MAX_DEPTH} levels.`,
    )
  }
  open.push(keys)
}

/** Answers where the string ends; a string before a colon is a key of the innermost open object. */
function passString(text: string, start: number, open: Open): number {
  const end = closingQuote(text, start)
  if (end === -1) return text.length
  let next = end + 1
  while (isSpace(text.charCodeAt(next))) next += 1
  const keys = open.at(-1)
  if (keys !== undefined && text.charCodeAt(next) === COLON) addKey(keys, text.slice(start, end + 1))
  return next
}

function closingQuote(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

function isEscaped(text: string, quote: number): boolean {
  let first = quote
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1
  return (quote - first) % 2 === 1
}

function isSpace(char: number): boolean {
  return char === 32 || char === 10 || char === 13 || char === 9
}

function addKey(keys: Set<string>, literal: string): void {
  const key = literal.includes('\\') ? unescaped(literal) : literal.slice(1, -1)
  if (FORBIDDEN.has(key)) {
    throw new Fault('InvalidInput', 'forbidden_key', `Cannot read the body: the key "${key}" is not allowed anywhere.`)
  }
  if (keys.has(key)) {
    const message = `Cannot read the body: the key "${key.slice(0, 100)}" appears twice in one object; keep one of them.`
    throw new Fault('InvalidInput', 'duplicate_key', message)
  }
  keys.add(key)
}

/** A bad escape stays as it is: the parser reports it a moment later. */
function unescaped(literal: string): string {
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal
  }
}
