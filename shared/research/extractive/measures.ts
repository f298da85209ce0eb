import { strictNumber } from '../../text/numbers.ts'
import { contentTerms } from '../question/terms.ts'

/** What an adjective compares: which end it asks for, and the words of predicates that measure it. */
export interface Measure {
  /** The most of it, or the least. */
  readonly end: 'most' | 'least'
  /** Terms of predicates it may be said by; none: the question names the predicate. */
  readonly by: readonly string[]
  /** It is about when: predicates of numbers are none, but for years. */
  readonly dated?: true
}

const SIZE = 'area size'
const HEIGHT = 'height elevation altitude'
const LENGTH = 'length duration runtime'
const DATES =
  'opened founded built born discovered established completed launched released published created constructed inception formed introduced began begun started invented described finished commissioned date year first'

/** `larger` and `largest` are one adjective: the words by what they end in `r` or `st` of. */
const ADJECTIVES: readonly (readonly [words: string, Measure])[] = [
  ['large big great', { end: 'most', by: contentTerms(SIZE) }],
  ['small little', { end: 'least', by: contentTerms(SIZE) }],
  ['tall high', { end: 'most', by: contentTerms(HEIGHT) }],
  ['low', { end: 'least', by: contentTerms(HEIGHT) }],
  ['long', { end: 'most', by: contentTerms(LENGTH) }],
  ['short', { end: 'least', by: contentTerms(`${LENGTH} height`) }],
  ['heavy', { end: 'most', by: contentTerms('mass weight') }],
  ['light', { end: 'least', by: contentTerms('mass weight') }],
  ['deep', { end: 'most', by: contentTerms('depth') }],
  ['shallow', { end: 'least', by: contentTerms('depth') }],
  ['wide broad', { end: 'most', by: contentTerms('width') }],
  ['narrow', { end: 'least', by: contentTerms('width') }],
  ['fast quick', { end: 'most', by: contentTerms('speed') }],
  ['slow', { end: 'least', by: contentTerms('speed') }],
  ['hot warm', { end: 'most', by: contentTerms('temperature') }],
  ['cold cool', { end: 'least', by: contentTerms('temperature') }],
  ['cheap', { end: 'least', by: contentTerms('price cost') }],
  ['dense', { end: 'most', by: contentTerms('density') }],
  ['old early', { end: 'least', by: contentTerms(DATES), dated: true }],
  ['new young late recent', { end: 'most', by: contentTerms(DATES), dated: true }],
]

/** `populous`, `expensive`: what stands behind more, most, less or least. */
const LONG_ADJECTIVES: Readonly<Record<string, string>> = {
  populous: 'population',
  populated: 'population',
  expensive: 'price cost',
  massive: 'mass',
  dense: 'density',
}

function forms(word: string, ending: 'r' | 'st'): readonly string[] {
  const last = word.at(-1) ?? ''
  const doubled = /^(?:big|hot)$/.test(word) ? `${word}${last}e${ending}` : `${word}e${ending}`
  if (word === 'little') return []
  return word.endsWith('e')
    ? [`${word}${ending}`]
    : word.endsWith('y')
      ? [`${word.slice(0, -1)}ie${ending}`]
      : [doubled]
}

function table(ending: 'r' | 'st'): ReadonlyMap<string, Measure> {
  return new Map(
    ADJECTIVES.flatMap(([words, measure]) =>
      words.split(' ').flatMap((word) => forms(word, ending).map((form) => [form, measure] as const)),
    ),
  )
}

/** `longer`, `older`, .. */
export const COMPARATIVES = table('r')
/** `longest`, `oldest`, .. */
export const SUPERLATIVES: ReadonlyMap<string, Measure> = new Map([
  ...table('st'),
  ['maximum', { end: 'most', by: [] }],
  ['minimum', { end: 'least', by: [] }],
])

/** What `more`, `most`, `less`, `least` and `fewest` of something compare. */
export function amountMeasure(word: string, next: string): Measure | undefined {
  const end = /^(?:more|most)$/.test(word) ? 'most' : /^(?:less|least|fewer|fewest)$/.test(word) ? 'least' : undefined
  if (end === undefined) return undefined
  if (next === 'recent' || next === 'recently') {
    return { end, by: contentTerms(DATES), dated: true }
  }
  const by = Object.hasOwn(LONG_ADJECTIVES, next) ? (LONG_ADJECTIVES[next] ?? '') : ''
  return { end, by: contentTerms(by) }
}

/** A value as it is compared. `dated`: a day or a year as YYYYMMDD, missing parts 0. */
export interface MeasuredValue {
  readonly value: number
  readonly dated: boolean
  readonly unit: string
  readonly written: string
}

const ISO = /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?)?)?$/
const WITH_UNIT = /^(-?\d[\d,]*(?:\.\d+)?)(?: ?(%|°C|[a-zA-Zµ]{1,12}[²³]?\d?))?$/u

/** A literal as one number with its unit, or one date; undefined: it is neither. */
export function readMeasured(written: string, isDate: boolean): MeasuredValue | undefined {
  const text = written.trim()
  const [, year, month = '00', day = '00'] = ISO.exec(text) ?? []
  if (year !== undefined && (isDate || text.length > 4)) {
    return { value: Number(`${year}${month}${day}`), dated: true, unit: '', written: text }
  }
  const [, digits, unit = ''] = WITH_UNIT.exec(text) ?? []
  const value = digits === undefined ? undefined : strictNumber(digits.replaceAll(',', ''))
  return value === undefined ? undefined : { value, dated: false, unit: unitOf(unit), written: text }
}

/** Of 1860 and a day of 1860 nobody can say which was first. */
export function isUnclear(one: Dated, other: Dated | undefined): boolean {
  if (other === undefined || !one.dated || !other.dated || one.value === other.value) return false
  return [100, 10_000].some(
    (part) =>
      Math.floor(one.value / part) === Math.floor(other.value / part) &&
      (one.value % part === 0 || other.value % part === 0),
  )
}

type Dated = Pick<MeasuredValue, 'value' | 'dated'>

const DATE_TERMS: ReadonlySet<string> = new Set(
  contentTerms(`${DATES} died death birth closed demolished destroyed ended dissolved abolished since acquired`),
)

/** Whether a predicate says when: then a number of four digits is a year. */
export function isDatePredicate(terms: readonly string[]): boolean {
  // `visitors per year` counts visitors.
  return !terms.includes('per') && terms.some((term) => DATE_TERMS.has(term))
}

const UNITS: Readonly<Record<string, string>> = {
  m: 'm',
  metre: 'm',
  metres: 'm',
  meter: 'm',
  meters: 'm',
  km: 'km',
  kilometre: 'km',
  kilometres: 'km',
  kilometer: 'km',
  kilometers: 'km',
  km2: 'km2',
  'km²': 'km2',
  m2: 'm2',
  'm²': 'm2',
  kg: 'kg',
  kilogram: 'kg',
  kilograms: 'kg',
  g: 'g',
  t: 't',
  cm: 'cm',
  mm: 'mm',
  ft: 'ft',
  feet: 'ft',
  mi: 'mi',
  mile: 'mi',
  miles: 'mi',
  s: 's',
  h: 'h',
  min: 'min',
  k: 'k',
  c: 'c',
  dollar: 'usd',
  dollars: 'usd',
  euro: 'eur',
  euros: 'eur',
  minutes: 'min',
  hours: 'h',
  kmh: 'kmh',
  usd: 'usd',
  eur: 'eur',
  mw: 'mw',
  kw: 'kw',
  gb: 'gb',
  mb: 'mb',
  percent: '%',
  '%': '%',
}

/** One symbol a unit; '' where a word is none. */
export function unitOf(word: string): string {
  const plain = word.toLowerCase()
  return Object.hasOwn(UNITS, plain) ? (UNITS[plain] ?? '') : plain === '' ? '' : `?${plain}`
}

export function isUnit(word: string): boolean {
  return Object.hasOwn(UNITS, word.toLowerCase())
}
