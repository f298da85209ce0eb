import { Fault } from '../errors.ts'

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

export const MAX_DEPTH = 64
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

/** Values of a text that are parsed on the event loop: 1 MiB of the densest text has no more. */
const MAX_VALUES = 550_000

/**
 * What a parsed value has that canonical JSON has not, which every hash here is made of: a number too large for a
 * double (the parser answers Infinity for 1e999), half of a character, more than 64 levels. Undefined = nothing.
 */
export function jsonProblem(value: unknown): { readonly code: string; readonly text: string } | undefined {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: here, depth } = next
    const problem = leafProblem(here)
    if (problem !== undefined) return problem
    if (typeof here !== 'object' || here === null) continue
    if (depth === MAX_DEPTH) return { code: 'json_too_deep', text: `it nests deeper than ${MAX_DEPTH} levels` }
    if (!Object.keys(here).every((key) => key.isWellFormed())) return HALF
    for (const member of Object.values(here)) open.push({ value: member, depth: depth + 1 })
  }
  return undefined
}

/** Whether more than 64 brackets of a text are open at once; those in strings do not count. One pass. */
export function nestsTooDeep(text: string): boolean {
  return measure(text, MAX_DEPTH).depth > MAX_DEPTH
}

/**
 * Why a text is not parsed here, before anything parses it: it nests too deep, or it holds so many values that parsing it
 * would hold up everybody else. Undefined = it may be parsed. One pass; the text need not be JSON. `around`: the values are
 * members of so many levels more.
 */
export function jsonTextProblem(
  text: string,
  around = 0,
): { readonly code: string; readonly text: string } | undefined {
  const most = MAX_DEPTH + around
  const { depth, values } = measure(text, most)
  if (depth > most) return { code: 'json_too_deep', text: `it nests deeper than ${MAX_DEPTH} levels` }
  if (values <= MAX_VALUES) return undefined
  return { code: 'json_too_dense', text: `it holds more than ${MAX_VALUES} values` }
}

/** How deep a text nests and how many values it holds, as far as either is over. */
function measure(text: string, most: number): { readonly depth: number; readonly values: number } {
  let [open, depth, values] = [0, 0, 1]
  for (let at = 0; at < text.length && depth <= most; at += 1) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) at = endOfJsonString(text, at)
    else if (char === COMMA) values += 1
    else {
      const step = stepOf(char)
      open += step
      if (step > 0) values += 1
      depth = Math.max(depth, open)
    }
  }
  return { depth, values }
}

function stepOf(char: number): -1 | 0 | 1 {
  if (char === OPEN_LIST || char === OPEN_OBJECT) return 1
  return char === CLOSE_LIST || char === CLOSE_OBJECT ? -1 : 0
}
const COMMA = 44
const OPEN_LIST = 91
const CLOSE_LIST = 93

/** The quote that closes the one at `start`; the text's length when none does. */
function endOfJsonString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

const HALF = {
  code: 'half_character',
  text: 'a text in it has half of a character (a lone surrogate, \\ud800 to \\udfff)',
}

function leafProblem(value: unknown) {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : HALF
  if (typeof value !== 'number' || Number.isFinite(value)) return undefined
  return { code: 'number_too_large', text: 'a number in it is larger than 1.8e308, or is not a number at all' }
}

/** A number that is another one once a double holds it. */
export interface InexactNumber {
  /** As it was written, shortened. */
  readonly written: string
  readonly becomes: number
}

const DOUBLE_DIGITS = 15

const LITERAL = /^(?<sign>[-+]?)(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:[eE](?<exponent>[-+]?\d+))?$/

const RADIX = /^[-+]?0(?:x[\da-f]+|o[0-7]+|b[01]+)$/i

/**
 * Whether a number keeps what it says as a double. A whole number must: 9007199254740993 would become ..992, an id or an
 * amount nobody gave. Decimals are rounded to the nearest double, as everywhere, but not away to 0 (1e-400). What is
 * larger than any double is told apart (`number_too_large`).
 */
export function inexactNumber(literal: string): InexactNumber | undefined {
  if (literal.length <= DOUBLE_DIGITS && /^[-+]?\d*\.?\d*$/.test(literal)) return undefined
  const becomes = readDouble(literal)
  if (!Number.isFinite(becomes)) return undefined
  const written = literal.length > 40 ? `${literal.slice(0, 40)}..` : literal
  return keeps(literal, becomes) ? undefined : { written, becomes }
}

function readDouble(literal: string): number {
  if (!RADIX.test(literal)) return Number(literal)
  const signed = /^[-+]/.test(literal)
  return (literal.startsWith('-') ? -1 : 1) * Number(signed ? literal.slice(1) : literal)
}

function keeps(literal: string, value: number): boolean {
  if (RADIX.test(literal)) return BigInt(literal.replace(/^[-+]/, '')) === BigInt(Math.abs(value))
  const given = decimal(literal)
  if (given === undefined || given.digits === '') return true
  if (given.power < 0) return value !== 0
  const shortest = decimal(String(value))
  // What a program writes for its double (1.7976931348623157e+308) is read as that double again.
  if (shortest?.digits === given.digits && shortest.power === given.power) return true
  return BigInt(given.digits) * 10n ** BigInt(given.power) === BigInt(Math.abs(value))
}

/** Digits without zeros at their ends, times ten to the power; no digits = zero. */
function decimal(literal: string): { readonly digits: string; readonly power: number } | undefined {
  const { whole = '', fraction = '', exponent = '0' } = LITERAL.exec(literal)?.groups ?? {}
  const all = `${whole}${fraction}`
  if (all === '') return undefined
  let end = all.length
  while (end > 0 && all[end - 1] === '0') end -= 1
  let start = 0
  while (start < end && all[start] === '0') start += 1
  return { digits: all.slice(start, end), power: Number(exponent) - fraction.length + (all.length - end) }
}

/** The numbers of a JSON text that a parser would change; `at` is where they begin. One pass; the text need not be JSON. */
export function inexactNumbers(text: string): readonly (InexactNumber & { readonly at: number })[] {
  const found: (InexactNumber & { readonly at: number })[] = []
  let at = 0
  while (at < text.length) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      at = behindString(text, at)
      continue
    }
    if (!isOfNumber(char)) {
      at += 1
      continue
    }
    const start = at
    while (at < text.length && isOfNumber(text.charCodeAt(at))) at += 1
    const changed = at - start === 1 ? undefined : inexactNumber(text.slice(start, at))
    if (changed !== undefined) found.push({ ...changed, at: start })
  }
  return found
}

function behindString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === BACKSLASH) at += 1
    else if (char === QUOTE) return at + 1
  }
  return text.length
}

/** Digits, `+`, `-`, `.`, `e` and `E`. */
function isOfNumber(char: number): boolean {
  return (char >= 48 && char <= 57) || char === 43 || char === 45 || char === 46 || char === 69 || char === 101
}

/** `9007199254740993 would become 9007199254740992: send it as text, "9007199254740993"`. */
export function inexactNumberWords({ written, becomes }: InexactNumber): string {
  return `the number ${written} would become ${becomes}, since a double holds no more digits; give it as text: "${written}"`
}
