import { FIELD_NAMES, type FieldName, isFieldName, queryField } from './fields.ts'
import { readTokens, type Token } from './tokens.ts'

/** What is known of runs already, by field: of `label` keys, and `KEY=VALUE`. */
export type KnownValues = Readonly<Partial<Record<FieldName, readonly string[]>>>

/** One way to go on with a query that is being written. */
export interface Completion {
  /** What is taken when it is chosen: characters `from` to `to` of the text become `insert`. */
  readonly from: number
  readonly to: number
  readonly insert: string
  /** What it is, for people. */
  readonly words: string
}

/** Most ways that are offered at once. */
const MOST = 12

/**
 * How a query may go on where somebody writes: the names of fields, after a colon the signs that compare and values that
 * are known. `at`: characters before the caret. Property: each one put in leaves a text that is read as terms.
 */
export function completions(text: string, at: number, known: KnownValues = {}): readonly Completion[] {
  const { from, to, written } = pieceAt(text, at)
  const [, minus = '', name, value = ''] = /^(-?)(?:([a-z]+):)?(.*)$/is.exec(written) ?? []
  const field = name?.toLowerCase()
  if (field === undefined) return fieldNames(value, { from: from + minus.length, to })
  if (!isFieldName(field)) return []
  const comma = lastComma(value)
  return fieldValues(field, value.slice(comma), { from: from + written.length - value.length + comma, to }, known)
}

interface Place {
  readonly from: number
  readonly to: number
}

/** The term the caret stands in, as far as it is written before the caret; `to` is where the term ends. */
function pieceAt(text: string, at: number): Place & { readonly written: string } {
  let from = 0
  let isQuoted = false
  for (let i = 0; i < at; i += 1) {
    if (isQuoted && text[i] === '\\') i += 1
    else if (text[i] === '"') isQuoted = !isQuoted
    else if (!isQuoted && /\s/.test(text[i] ?? '')) from = i + 1
  }
  const rest = isQuoted ? /^(?:[^"\\]|\\.)*"?/s : /^[^\s,"]*/
  const behind = rest.exec(text.slice(at))?.[0].length ?? 0
  return { from, to: at + behind, written: text.slice(from, at) }
}

/** Behind the last comma that is in no quotes. */
function lastComma(value: string): number {
  let found = 0
  let isQuoted = false
  for (let i = 0; i < value.length; i += 1) {
    if (isQuoted && value[i] === '\\') i += 1
    else if (value[i] === '"') isQuoted = !isQuoted
    else if (!isQuoted && value[i] === ',') found = i + 1
  }
  return found
}

function fieldNames(begun: string, place: Place): readonly Completion[] {
  return FIELD_NAMES.filter((name) => name.startsWith(begun.toLowerCase())).map((name) => ({
    ...place,
    insert: `${name}:`,
    words: queryField(name).words,
  }))
}

function fieldValues(field: FieldName, begun: string, place: Place, known: KnownValues): readonly Completion[] {
  const { kind, values = [] } = queryField(field)
  const plain = begun.replaceAll('"', '').toLowerCase()
  const offered = [...new Set([...values, ...(known[field] ?? [])])]
  const fitting = offered.filter((value) => value.toLowerCase().startsWith(plain)).slice(0, MOST)
  const of = (value: string, words: string): Completion => ({ ...place, insert: value, words })
  const found = fitting.map((value) => of(quotedValue(value), KIND_WORDS[kind] ?? ''))
  const ranges = RANGES[kind] ?? []
  return [...found, ...ranges.filter(([value]) => value.startsWith(plain)).map(([value, words]) => of(value, words))]
}

const KIND_WORDS: Readonly<Record<string, string>> = { label: 'a label of a run here', name: 'of a run here' }

const RANGES: Readonly<Record<string, readonly (readonly [value: string, words: string])[]>> = {
  time: [
    ['1h', 'in the last hour'],
    ['24h', 'in the last day'],
    ['7d', 'in the last seven days'],
    ['30d', 'in the last thirty days'],
    ['<7d', 'longer ago than seven days'],
  ],
  usd: [
    ['>0.1', 'more than 10 cents'],
    ['>=1', 'a dollar or more'],
    ['0.5..2', 'from one amount to another'],
  ],
  number: [
    ['>10000', 'more than ten thousand'],
    ['1000..5000', 'from one number to another'],
  ],
  duration: [
    ['>1m', 'longer than a minute'],
    ['>1h', 'longer than an hour'],
    ['<10s', 'shorter than ten seconds'],
  ],
}

/** A value as a query may have it: in quotes where a sign in it means something. */
export function quotedValue(value: string): string {
  return /^[^\s",\\*]+$/.test(value) ? value : `"${value.replace(/["\\]/g, (sign) => `\\${sign}`)}"`
}

/** Of a form: what a query says of one field; undefined where it says nothing, or more than one thing. */
export function valueInQuery(text: string, field: FieldName): string | undefined {
  const own = termsOf(text, field)
  const [one] = own
  return one === undefined || own.length > 1 ? undefined : one.parts.map((part) => part.text).join(',')
}

/**
 * The same query with this value for the field, in the place of what it said; an empty one takes the field out. Terms
 * with a minus, and all that is about others, stay as they were written. `value` as the language has it.
 */
export function withValue(text: string, field: FieldName, value: string): string {
  const own = termsOf(text, field)
  let made = text
  for (const token of own.toReversed()) {
    const end = endOf(text, token)
    made = `${made.slice(0, token.at)}${made.slice(end).trimStart()}`
  }
  const rest = made.trim()
  return value === '' ? rest : `${rest}${rest === '' ? '' : ' '}${field}:${value}`
}

/** The words of a query, without its terms about fields. */
export function wordsOfQuery(text: string): string {
  const read = readTokens(text)
  if (!read.ok) return ''
  return read.tokens
    .filter(({ field }) => field === undefined)
    .map((token) => text.slice(token.at, endOf(text, token)))
    .join(' ')
}

/** The same query with these words, in the place of those it had. Words that look like a field stand in quotes. */
export function withWords(text: string, words: string): string {
  const read = readTokens(text)
  if (!read.ok) return text
  const kept = read.tokens
    .filter(({ field }) => field !== undefined)
    .map((token) => text.slice(token.at, endOf(text, token)))
  const typed = words
    .replaceAll('"', ' ')
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => (word.includes(':') ? `"${word}"` : word))
  return [...kept, ...typed].join(' ')
}

function termsOf(text: string, field: FieldName): readonly Token[] {
  const read = readTokens(text)
  if (!read.ok) return []
  return read.tokens.filter((token) => !token.negated && token.field?.name.toLowerCase() === field)
}

/** Where a term ends: before the spaces of the next one. */
function endOf(text: string, token: Token): number {
  const read = readTokens(text)
  const next = read.ok ? read.tokens.find(({ at }) => at > token.at) : undefined
  return text.slice(0, next?.at ?? text.length).trimEnd().length
}
