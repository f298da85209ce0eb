import { Fault } from '../errors.ts'
import { idBeginning, SHORT_RUN_ID } from '../runs/ids.ts'
import { wordsIn } from '../runs/words.ts'
import { quoted, suggest } from '../text/wording.ts'
import { FIELD_NAMES, type FieldName, isFieldName, queryField } from './fields.ts'
import { problem, type QueryProblem, type Read } from './query-problem.ts'
import { type Range, type RangeField, readRange } from './range.ts'
import { readTokens, type Token, type TokenPart } from './tokens.ts'

/** What is asked of runs: every condition has to hold. */
export interface RunQuery {
  readonly conditions: readonly Condition[]
  /** Words that a run must have, and must not. */
  readonly words: readonly string[]
  readonly without: readonly string[]
}

export type Condition = { readonly negated: boolean } & (
  | { readonly field: 'dag' | 'starter' | 'code'; readonly any: readonly NameMatch[] }
  | { readonly field: 'state' | 'role'; readonly any: readonly string[] }
  | { readonly field: 'id' | 'subject'; readonly any: readonly string[] }
  | { readonly field: 'label'; readonly any: readonly LabelMatch[] }
  | { readonly field: RangeField; readonly range: Range }
)

export interface NameMatch {
  readonly name: string
  /** Any name that begins so. */
  readonly begins: boolean
}

export interface LabelMatch {
  readonly key: string
  /** Absent: any. */
  readonly value?: string
}

export const QUERY_LIMITS = { characters: 1_000, terms: 30 } as const

export type ReadQuery =
  | { readonly ok: true; readonly query: RunQuery }
  | { readonly ok: false; readonly problem: QueryProblem }

/** The query of a text (docs/runs.md, "Search"). `now`: what `7d` counts back from. */
export function readQuery(text: string, now: number): ReadQuery {
  const read = tokensWithin(text)
  if (!read.ok) return read
  const terms: (Term & { readonly negated: boolean })[] = []
  for (const token of read.tokens) {
    const one = readTerm(token, now)
    if ('problem' in one) return { ok: false, problem: one.problem }
    terms.push({ ...one, negated: token.negated })
  }
  const wordsThat = (negated: boolean) =>
    terms.flatMap((one) => ('words' in one && one.negated === negated ? one.words : []))
  const conditions = terms.flatMap((one) => ('condition' in one ? [one.condition] : []))
  return {
    ok: true,
    query: { conditions, words: [...new Set(wordsThat(false))], without: [...new Set(wordsThat(true))] },
  }
}

function tokensWithin(
  text: string,
): { readonly ok: true; readonly tokens: readonly Token[] } | Extract<ReadQuery, { ok: false }> {
  const { characters, terms } = QUERY_LIMITS
  if (text.length > characters) {
    const words = `it has ${text.length} characters, and at most ${characters} are read`
    return { ok: false, ...problem(characters, words) }
  }
  const read = readTokens(text)
  if (!read.ok) return { ok: false, ...problem(read.at, read.words, ['"']) }
  const further = read.tokens[terms]
  if (further === undefined) return read
  return { ok: false, ...problem(further.at, `it has ${read.tokens.length} terms, and at most ${terms} are read`) }
}

/** The same for whoever cannot go on without: Fault InvalidInput bad_run_search. */
export function requireQuery(text: string, now: number): RunQuery {
  const read = readQuery(text, now)
  if (read.ok) return read.query
  const { at, allowed } = read.problem
  throw new Fault('InvalidInput', 'bad_run_search', `Cannot read the search: ${problemWords(text, read.problem)}`, {
    facts: { at: at + 1, allowed },
  })
}

/** `at character 7, "stat:failed": "stat" is no field. Did you mean "state"?` */
export function problemWords(text: string, { at, words }: QueryProblem): string {
  const seen = text.slice(at, at + 40)
  return `at character ${at + 1}${seen === '' ? '' : `, ${quoted(seen)}`}: ${words}.`
}

type Term = { readonly condition: Condition } | { readonly words: readonly string[] }

function readTerm(token: Token, now: number): Read<Term> {
  const { field, parts, negated } = token
  if (field === undefined) return readWords(token)
  const name = field.name.toLowerCase()
  if (!isFieldName(name)) return unknownField(field)
  const empty = parts.find((part) => part.text === '')
  if (empty === undefined) return readValue(name, parts, negated, now)
  const { words, example, values } = queryField(name)
  return problem(empty.at, `${quoted(`${name}:`)} needs a value (${words.toLowerCase()}), as ${example}`, values)
}

/** A whole id, or a long beginning of one, is meant as one. */
function readWords({ at, negated, parts: [first = { at, text: '', quoted: false }] }: Token): Read<Term> {
  if (!first.quoted && RUN_ID.test(first.text))
    return { condition: { negated, field: 'id', any: [first.text.toLowerCase()] } }
  const words = wordsIn(first.text)
  return words.length > 0 ? { words } : problem(at, 'no word is in it: a word has letters or digits', FIELD_NAMES)
}

function unknownField({ name, at }: NonNullable<Token['field']>): { readonly problem: QueryProblem } {
  const near = suggest(name, FIELD_NAMES)
  const meant = near === undefined ? '' : ` Did you mean ${quoted(near)}?`
  const fields = `A field is one of ${FIELD_NAMES.join(', ')}; words with a colon stand in quotes`
  return problem(at, `${quoted(name)} is no field.${meant} ${fields}`, FIELD_NAMES)
}

const RUN_ID = /^run_[0-9a-hjkmnp-tv-z]{4,26}$/i

function readValue(field: FieldName, parts: readonly TokenPart[], negated: boolean, now: number): Read<Term> {
  switch (field) {
    case 'dag':
    case 'starter':
    case 'code':
      return { condition: { negated, field, any: parts.map(readName) } }
    case 'state':
    case 'role':
      return readChoice(field, parts, negated)
    case 'id':
      return readIds(parts, negated)
    case 'subject':
      return { condition: { negated, field, any: parts.map(({ text }) => text) } }
    case 'label':
      return readLabels(parts, negated)
    default: {
      const read = readRange(field, parts, now)
      return 'problem' in read ? read : { condition: { negated, field, range: read } }
    }
  }
}

/** A star at the end stands for whatever follows. */
function readName({ text, quoted: isQuoted }: TokenPart): NameMatch {
  const begins = !isQuoted && text.endsWith('*')
  return { name: begins ? text.slice(0, -1) : text, begins }
}

/** `approval` is how lists shorten it. */
const SHORT: Readonly<Record<string, string>> = { approval: 'paused_approval' }

function readChoice(field: 'state' | 'role', parts: readonly TokenPart[], negated: boolean): Read<Term> {
  const { values = [] } = queryField(field)
  const any: string[] = []
  for (const { text, at } of parts) {
    const value = SHORT[text.toLowerCase()] ?? text.toLowerCase()
    if (!values.includes(value)) {
      const near = suggest(value, values)
      const meant = near === undefined ? '' : ` Did you mean ${quoted(near)}?`
      return problem(at, `${quoted(text)} is no ${field}.${meant} There are ${values.join(', ')}`, values)
    }
    any.push(value)
  }
  return { condition: { negated, field, any } }
}

function readIds(parts: readonly TokenPart[], negated: boolean): Read<Term> {
  const any: string[] = []
  for (const { text, at } of parts) {
    const typed = text.toLowerCase()
    if (!SHORT_RUN_ID.test(typed))
      return problem(
        at,
        `${quoted(text)} is no beginning of an id: run_, which may be left out, and 4 to 26 of 0-9 a-z without i l o u`,
      )
    any.push(idBeginning(typed))
  }
  return { condition: { negated, field: 'id', any } }
}

function readLabels(parts: readonly TokenPart[], negated: boolean): Read<Term> {
  const any: LabelMatch[] = []
  for (const { text, at } of parts) {
    const equals = text.indexOf('=')
    const key = equals === -1 ? text : text.slice(0, equals)
    const value = equals === -1 ? undefined : text.slice(equals + 1)
    if (key === '' || value === '')
      return problem(
        at,
        `${quoted(text)} names no label: label:KEY, or label:KEY=VALUE, in quotes where a space or a comma is in it`,
      )
    any.push({ key, ...(value !== undefined && { value }) })
  }
  return { condition: { negated, field: 'label', any } }
}
