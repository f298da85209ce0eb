import { parseCheck } from '../gates/parse-check.ts'
import type { Json } from '../text/json.ts'
import type { Path, Source } from '../text/source-position.ts'
import { quoted } from '../text/wording.ts'

/** Text of a file beside the configuration; undefined = it cannot be read. */
export type ReadBeside = (path: string) => string | undefined

export type Mapping = Readonly<Record<string, Json>>

export interface Reading {
  readonly source: Source
  readonly read: ReadBeside
  readonly missed: { readonly path: Path; readonly what: string }[]
}

/** The one block of the document, and its output. */
export const BLOCK = 'answer'
export const PORT = 'text'

export function miss({ missed }: Reading, path: Path, what: string): void {
  missed.push({ path, what })
}

/** Keys nobody reads are named, each. */
export function leftOver(reading: Reading, path: Path, mapping: Mapping, known: readonly string[], why: string): void {
  for (const key of Object.keys(mapping))
    if (!known.includes(key)) miss(reading, [...path, key], `${quoted(key)} ${why}`)
}

export function isMapping(value: Json | undefined): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A single value stands for a list of one. */
export function listOf(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return []
  // TypeScript does not take readonly lists out of Json by Array.isArray.
  return Array.isArray(value) ? (value as readonly Json[]) : [value]
}

export function missed(reading: Reading, path: Path, what: string): readonly never[] {
  miss(reading, path, what)
  return []
}

const VARIABLE = /\{\{\s*([A-Za-z_][\w-]*)\s*\}\}/g

/** Nunjucks has more than variables. */
export function templateProblem(text: string): string | undefined {
  if (/\{[%#]/.test(text)) return 'logic in a template ({% .. %})'
  const rest = text.replace(VARIABLE, '')
  const [found] = /\{\{[^}]*\}\}/.exec(rest) ?? []
  return found === undefined ? undefined : `the expression ${quoted(found)} in a template`
}

export function renamed(text: string, root: 'inputs' | 'item'): string {
  return text.replace(VARIABLE, (_, variable: string) => `{{${root}.${variable}}}`)
}

/** Prefixes of promptfoo's providers, and what they are called here. */
const PREFIXES: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'google',
  ollama: 'ollama',
  bedrock: 'bedrock',
}
/** Of a provider's name: how the model is asked there. */
const WAYS = new Set(['chat', 'responses', 'messages', 'completion'])
export function providerNamed(id: string): { readonly provider: string; readonly model: string } | undefined {
  const [prefix = '', ...rest] = id.split(':')
  const provider = Object.hasOwn(PREFIXES, prefix) ? PREFIXES[prefix] : undefined
  const model = (WAYS.has(rest[0] ?? '') ? rest.slice(1) : rest).join(':')
  return provider === undefined || model === '' ? undefined : { provider, model }
}

export interface Asserted {
  readonly name: string
  readonly block: string
  readonly check: Mapping
}

export function unusedName(wanted: string, names: Set<string>): string {
  const name =
    wanted
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 90) || 'variant'
  let unused = name
  for (let number = 2; names.has(unused); number += 1) unused = `${name}-${number}`
  names.add(unused)
  return unused
}

export function uniqueNames(all: readonly Asserted[], taken: ReadonlySet<string> = new Set()): readonly Asserted[] {
  const names = new Set(taken)
  return all.map((one) => ({ ...one, name: unusedName(one.name, names) }))
}

const ASSERT_KEYS = ['type', 'value', 'metric']
const WITH_THRESHOLD: ReadonlySet<string> = new Set(['levenshtein', 'latency', 'cost'])

export function readAssert(reading: Reading, path: Path, given: Json, row = ''): readonly Asserted[] {
  const type = isMapping(given) ? given.type : undefined
  if (!isMapping(given) || typeof type !== 'string')
    return missed(reading, path, `an assert without a type${row} is not taken over`)
  const negated = type.startsWith('not-')
  const plain = negated ? type.slice('not-'.length) : type
  const made = checkOf(plain, given)
  if (typeof made === 'string') return missed(reading, path, `assert ${quoted(type)}${row}: ${made}`)
  const problem = Object.values(given).flatMap((value) =>
    typeof value === 'string' ? (templateProblem(value) ?? []) : [],
  )[0]
  if (problem !== undefined) return missed(reading, path, `assert ${quoted(type)}${row}: ${problem} is not taken over`)
  const keys = WITH_THRESHOLD.has(plain) ? [...ASSERT_KEYS, 'threshold'] : ASSERT_KEYS
  leftOver(
    reading,
    path,
    given,
    keys,
    'of an assert has no counterpart here: it holds or not, and each counts the same',
  )
  const check = { ...withItems(made), ...(negated && { not: true }) }
  const refused = JSON.stringify(check).includes('{{') ? undefined : parseCheck(check)
  if (refused !== undefined && !refused.ok) {
    const words = refused.errors.map(({ message }) => message).join(' ')
    return missed(reading, path, `assert ${quoted(type)}${row}: ${words}`)
  }
  const name = typeof given.metric === 'string' ? given.metric : type
  return [{ name, block: BLOCK, check }]
}

/** Variables of a test are columns of the item. */
function withItems(value: Mapping): Mapping {
  const inner = (one: Json): Json => {
    if (typeof one === 'string') return renamed(one, 'item')
    if (Array.isArray(one)) return one.map(inner)
    return isMapping(one) ? Object.fromEntries(Object.entries(one).map(([key, member]) => [key, inner(member)])) : one
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inner(one)]))
}

type Make = (given: Mapping) => Mapping | string

const port = PORT

function texts(value: Json | undefined): readonly string[] {
  if (typeof value === 'string')
    return value
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
  return listOf(value).map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
}

const containing =
  (type: 'contains' | 'contains_any', case_sensitive: boolean): Make =>
  ({ value }) => ({ type, port, values: texts(value), case_sensitive })

const containingOne =
  (case_sensitive: boolean): Make =>
  ({ value }) => ({
    type: 'contains',
    port,
    values: [typeof value === 'string' ? value : JSON.stringify(value ?? '')],
    case_sensitive,
  })

/** Asserts by their type, without `not-`, as checks of an output; a text says why there is none. */
const CHECKS: Readonly<Record<string, Make>> = {
  equals: ({ value }) =>
    typeof value === 'string' || typeof value === 'number'
      ? { type: 'equals', port, value: String(value) }
      : 'only a text can be equal to an answer, which is one',
  contains: containingOne(true),
  icontains: containingOne(false),
  'contains-all': containing('contains', true),
  'icontains-all': containing('contains', false),
  'contains-any': containing('contains_any', true),
  'icontains-any': containing('contains_any', false),
  'starts-with': ({ value }) => ({ type: 'starts_with', port, value: String(value ?? '') }),
  regex: ({ value }) => ({ type: 'matches', port, pattern: String(value ?? '') }),
  'is-json': ({ value }) =>
    isMapping(value) ? { type: 'json_schema', port, schema: value } : jsonWithout(value, 'valid_json'),
  'contains-json': ({ value }) =>
    isMapping(value) ? { type: 'contains_json', port, schema: value } : jsonWithout(value, 'contains_json'),
  'is-xml': ({ value }) =>
    value === undefined ? { type: 'valid_xml', port } : 'required elements are not checked here',
  'is-refusal': () => ({ type: 'is_refusal', port, expect: true }),
  levenshtein: ({ value, threshold }) => ({
    type: 'levenshtein',
    port,
    text: String(value ?? ''),
    max: numberOr(threshold, 5),
  }),
  latency: ({ threshold }) =>
    typeof threshold === 'number' ? { type: 'latency', max_ms: threshold } : 'it has no threshold',
  cost: ({ threshold }) => (typeof threshold === 'number' ? { type: 'cost', max: threshold } : 'it has no threshold'),
  'word-count': ({ value }) => wordCount(value),
}

function jsonWithout(value: Json | undefined, type: string): Mapping | string {
  return value === undefined || value === '' ? { type, port } : 'a schema in a file or a text is not taken over'
}

function numberOr(value: Json | undefined, other: number): number {
  return typeof value === 'number' ? value : other
}

function wordCount(value: Json | undefined): Mapping | string {
  const exactly =
    typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value)) ? Number(value) : undefined
  if (exactly !== undefined) return { type: 'word_count', port, min: exactly, max: exactly }
  if (!isMapping(value)) return 'a number, or min and max are needed'
  const { min, max } = value
  return { type: 'word_count', port, ...(typeof min === 'number' && { min }), ...(typeof max === 'number' && { max }) }
}

/** Why what looks alike is not taken. */
const REASONS: Readonly<Record<string, string>> = {
  javascript: 'it is code; write a gate of your project, or an expr gate',
  python: 'it is code; write a step, or a gate of your project',
  ruby: 'it is code; write a step, or a gate of your project',
  webhook: 'it asks the network: put a webhook gate under `gates`',
  similar: 'embeddings are not compared here',
  'llm-rubric': 'a judge judges in the run, by the same words for every item: under defaultTest it is taken over',
  'rouge-n': 'its score is computed otherwise: put a rouge_n check with the measure you mean under `expect`',
  'finish-reason': 'how an answer ended is known in the run: put a finish_reason gate under `gates`',
  'assert-set': 'sets with a threshold of their own have no counterpart: write the asserts themselves',
}

function checkOf(type: string, given: Mapping): Mapping | string {
  const make = Object.hasOwn(CHECKS, type) ? CHECKS[type] : undefined
  if (make !== undefined) return make(given)
  return (Object.hasOwn(REASONS, type) ? REASONS[type] : undefined) ?? 'there is no gate type like it'
}

/** The words of a judge are the same for every item, so it is a gate of the document. */
export function readRubric(reading: Reading, path: Path, given: Json, fallback: Json | undefined): readonly Asserted[] {
  if (!isMapping(given) || typeof given.value !== 'string')
    return missed(reading, path, 'assert "llm-rubric": it has no text to judge by')
  if (given.value.includes('{{') || given.value.includes('{%'))
    return missed(
      reading,
      path,
      'assert "llm-rubric": its words differ from item to item, and a judge here has the same for all',
    )
  const judge = given.provider ?? fallback
  const id = isMapping(judge) ? judge.id : judge
  const named = typeof id === 'string' ? providerNamed(id) : undefined
  if (named === undefined)
    return missed(
      reading,
      path,
      'assert "llm-rubric": it names no judge that is known here (provider, or defaultTest.options.provider)',
    )
  leftOver(
    reading,
    path,
    given,
    ['type', 'value', 'provider', 'metric'],
    'of an assert has no counterpart here: a judge says yes or no',
  )
  const name = typeof given.metric === 'string' ? given.metric : 'llm-rubric'
  return [{ name, block: BLOCK, check: { type: 'llm_review', port, criteria: given.value, ...named } }]
}
