import { factText, groupFacts, plainName, type ShownEvidence } from '../claims/shown-evidence.ts'
import { namesIn } from '../question/label-mentions.ts'
import { contentTerms, plainWords } from '../question/terms.ts'
import type { EvidenceUnit } from './evidence-units.ts'
import {
  amountMeasure,
  COMPARATIVES,
  isDatePredicate,
  isUnclear,
  type Measure,
  readMeasured,
  unitOf,
} from './measures.ts'
import { predicateTerms, predicateText, predicateUnit } from './thing-set.ts'

/** `larger`, `older`, `more populous`: they ask for two numbers side by side, nothing says them of one thing. */
export const COMPARATIVE = new RegExp(
  `\\b(?:${[...COMPARATIVES.keys()].join('|')}|compare[ds]?|comparison|difference|versus|vs|before|after|more|fewer|less|first|last)\\b`,
  'gi',
)

/**
 * The one line that puts the named things side by side by the number or date the question asks for: only where each of
 * them has exactly one, all in one unit.
 */
export function compareFacts(topic: string, evidence: readonly ShownEvidence[]): string | undefined {
  const measure = readMeasure(topic)
  if (measure === undefined) return undefined
  const items = evidence.map((item, place) => ({ item, n: place + 1, facts: groupFacts(item.facts ?? []) }))
  const { names } = namesIn(topic, [...new Set(evidence.flatMap(({ label }) => label ?? []))])
  const named = names.map((name) => items.filter(({ item }) => item.label === name))
  if (named.length < 2) return undefined
  const predicates = (named[0] ?? []).flatMap(({ facts }) => facts.map(({ predicate }) => predicate))
  const isYears = (of: string) => named.every((same) => same.some((one) => areYears(one, of)))
  const predicate = askedPredicate(withoutNames(topic, names), measure, { predicates, isYears })
  if (predicate === undefined) return undefined
  // A city and a country may have one name: what has such a number is meant.
  const isDate = measure.dated === true
  const rows = named.flatMap((same) => same.flatMap((one) => comparedRow(one, predicate, isDate) ?? []).slice(0, 1))
  const [first] = rows
  if (first === undefined || rows.length < named.length) return undefined
  if (rows.some(({ unit, dated }) => unit !== first.unit || dated !== first.dated)) return undefined
  return rowsInOrder(rows, measure.end, predicateText(predicate))
}

type ComparedRow = NonNullable<ReturnType<typeof comparedRow>>

/** undefined: of two dates nobody can say which is first. */
function rowsInOrder(rows: readonly ComparedRow[], end: Measure['end'], by: string): string | undefined {
  const sign = end === 'most' ? -1 : 1
  const sorted = rows.toSorted((a, b) => sign * (a.value - b.value) || a.n - b.n)
  if (sorted.some((row, at) => at > 0 && isUnclear(row, sorted[at - 1]))) return undefined
  const isSame = rows.every(({ value }) => value === rows[0]?.value)
  const list = sorted.map(({ label, written, value, n }, at) => {
    const equal = !isSame && at > 0 && value === sorted[at - 1]?.value ? ' (equal)' : ''
    return `${label} ${written}${equal} [${n}]`
  })
  if (isSame) return `Equal by ${by}: ${list.join(', ')}.`
  const [most, least] = rows[0]?.dated === true ? ['latest', 'earliest'] : ['greatest', 'smallest']
  return `By ${by}, ${end === 'most' ? most : least} first: ${list.join(', ')}.`
}

function withoutNames(topic: string, names: readonly string[]): string {
  return namesIn(topic, names).rest
}

/** What is compared; of `compare`, `before` and their like the predicate is named by the question. */
function readMeasure(topic: string): Measure | undefined {
  const words = plainWords(topic)
  const found = words.map((word, at) => measureOf(word, words[at + 1] ?? ''))
  return found.find((measure) => measure !== undefined)
}

function measureOf(word: string, next: string): Measure | undefined {
  const amount = /^(?:more|less|fewer)$/.test(word) ? amountMeasure(word, next) : undefined
  if (/^(?:before|first)$/.test(word)) return { end: 'least', by: [], dated: true }
  if (/^(?:after|last)$/.test(word)) return { end: 'most', by: [], dated: true }
  if (/^(?:compared?s?|comparison|difference|versus|vs)$/.test(word)) return { end: 'most', by: [] }
  return COMPARATIVES.get(word) ?? amount
}

function areYears({ facts }: ComparedItem, of: string): boolean {
  return facts.some(({ predicate, objects }) => predicate === of && objects.every((one) => YEAR.test(one)))
}

/** What may be a year or a day, where the question asks which was first. */
const YEAR = /^(?:1\d{3}|20\d{2})(?:-\d\d(?:-\d\d)?)?$/

/** The predicate with a word of the question; else the one that measures what the adjective asks for. */
function askedPredicate(
  rest: string,
  { by, dated }: Measure,
  { predicates, isYears }: { readonly predicates: readonly string[]; readonly isYears: (predicate: string) => boolean },
): string | undefined {
  const asked = contentTerms(rest)
  const isDated = (one: string) => dated !== true || isDatePredicate(predicateTerms(one)) || isYears(one)
  const fitting = [...new Set(predicates)].filter(isDated)
  const named = fitting.find((predicate) =>
    contentTerms(factText('', predicate, [])).some((term) => asked.includes(term)),
  )
  if (named !== undefined) return named
  const measuring = by
    .map((term) => fitting.filter((predicate) => predicateTerms(predicate).includes(term)))
    .filter((of) => of.length > 0)
  // Of two dates nobody can say which one makes it older.
  if (dated === true && new Set(measuring.flat()).size > 1) return undefined
  return measuring[0]?.[0]
}

interface ComparedItem {
  readonly item: ShownEvidence
  readonly n: number
  readonly facts: ReturnType<typeof groupFacts>
}

function comparedRow({ item, n, facts }: ComparedItem, predicate: string, isDate: boolean) {
  const objects = facts.find((group) => group.predicate === predicate)?.objects ?? []
  const [written = '', ...others] = objects
  const read =
    others.length === 0 ? readMeasured(written, isDate || isDatePredicate(predicateTerms(predicate))) : undefined
  if (read === undefined) return undefined
  const unit = read.dated || read.unit !== '' ? read.unit : unitOf(predicateUnit(predicate))
  return { label: plainName(item.label ?? item.entity_id), n, value: read.value, dated: read.dated, unit, written }
}

const EITHER = /^(?:is|are|was|were|does|do|did|has|have) (?:the )?(.{1,200}?) or (.{1,100}?)\??$/iu

/**
 * `Is Lua statically or dynamically typed?`, `Is Norway in Europe or in Asia?`: the fact of the named thing that states one
 * of the two, where one relation alone does.
 */
export function eitherOr(
  topic: string,
  evidence: readonly ShownEvidence[],
  units: readonly EvidenceUnit[],
): readonly EvidenceUnit[] | undefined {
  const [, left = '', right = ''] = EITHER.exec(topic.trim()) ?? []
  const { names } = namesIn(left, [...new Set(evidence.flatMap(({ label }) => label ?? []))])
  const words = plainWords(left)
  const subject = names.find((name) => words.slice(0, plainWords(name).length).join(' ') === plainWords(name).join(' '))
  if (subject === undefined) return undefined
  const said = new Set([...words.slice(plainWords(subject).length), ...plainWords(right)].map(plainForm))
  const places = evidence.flatMap(({ label }, at) => (label === subject ? [at + 1] : []))
  const stating = units.filter(({ kind, n, text }) => {
    const objects = text.split(': ').slice(1).join(': ').split(', ')
    return kind === 'fact' && places.includes(n) && objects.some((object) => isSaidWhole(object, said))
  })
  return new Set(stating.map(({ predicate }) => predicate)).size === 1 ? stating : undefined
}

function isSaidWhole(object: string, said: ReadonlySet<string>): boolean {
  const words = plainWords(object)
  return words.length > 0 && words.every((word) => said.has(plainForm(word)))
}

/** `statically` says `static`. */
function plainForm(word: string): string {
  return word.length > SHORT ? word.replace(/(?<=ic)ally$|(?<=\p{L}{3})ly$/u, '') : word
}

const SHORT = 5
