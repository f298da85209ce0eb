/** One marker line: `[METRIC:cv_accuracy_mean:folds=5] 0.91`. */
export interface Marker {
  /** Upper case, `-` written as `_`. */
  readonly type: string
  /** The first attribute without `=`, `-` written as `_`; of a CITATION all there is, as it stands. */
  readonly subtype?: string
  readonly attributes: Readonly<Record<string, string>>
  /** What stands behind the bracket, without white space at its ends. */
  readonly content: string
  /** From 1. */
  readonly line: number
  /** A type of the taxonomy; others are kept, and mean nothing to the gates unless a contract names them. */
  readonly known: boolean
}

/** Markers of one block that are read, all its texts together; what stands behind them is none. */
export const MOST_MARKERS = 10_000

/**
 * The markers of a text, one a line at most, the first `most` (docs/goal-gates.md, "Evidence"). Only white space may
 * stand before the bracket: quoted lines (`> [METRIC:x] 1`), brackets inside of sentences and everything between fences
 * (``` or ~~~, also in lists and quotations; one that is never closed goes to the end) are prose. \r\n is \n.
 */
export function parseMarkers(text: string, most = MOST_MARKERS): readonly Marker[] {
  const markers: Marker[] = []
  let fence: Fence | undefined
  for (const [index, line] of text.split('\n').entries()) {
    if (markers.length >= most) break
    const before = fence
    fence = fenceAfter(line, before)
    const match = before === undefined && fence === undefined ? MARKER.exec(line) : null
    const marker = match === null ? undefined : readMarker(match, index + 1)
    if (marker !== undefined && !hasForbiddenName(marker)) markers.push(marker)
  }
  return markers
}

/** Metrics go by their names into objects of whoever reads them: what every object has already is no name. */
export function isMetricName(name: string): boolean {
  const same = sameDashes(name)
  return same !== 'prototype' && !Object.hasOwn(Object.prototype, same)
}

function hasForbiddenName({ type, subtype = '' }: Marker): boolean {
  return type === 'METRIC' && !isMetricName(subtype)
}

/** An open fence: its marks, and the column they stand in. */
interface Fence {
  readonly marks: string
  readonly column: number
}

/** The fence a line leaves open, where `open` is open before it. */
function fenceAfter(line: string, open: Fence | undefined): Fence | undefined {
  const { before = '', marks = '' } = FENCE.exec(line)?.groups ?? {}
  const column = columnsOf(before)
  if (open === undefined) return marks === '' ? undefined : { marks, column }
  const closes = marks.startsWith(open.marks) && line.slice(before.length).trim() === marks
  // A list mark begins a fence and ends none; four columns further in, marks are part of what is fenced.
  return closes && !LIST_MARK.test(before) && column < open.column + 4 ? undefined : open
}

/** Three or more, behind any indent, list marks and quotation marks; behind backticks no backtick follows. */
const FENCE = /^(?<before>(?:[\s>]|[-*+]\s|\d{1,9}[.)]\s)*)(?<marks>`{3,}(?=[^`]*$)|~{3,})/

const LIST_MARK = /[^\s>]/

/** A tab goes to the next column that is a multiple of four, as Markdown has it. */
function columnsOf(before: string): number {
  let columns = 0
  for (const sign of before) columns += sign === '\t' ? 4 - (columns % 4) : 1
  return columns
}

/** How types and subtypes are compared: `-` and `_` are equal. */
export function sameDashes(word: string): string {
  return word.replaceAll('-', '_')
}

const MARKER = /^\s*\[(?<type>[A-Z][A-Z0-9_-]*)(?::(?<attributes>[^\]]+))?\](?<content>.*)$/s

function readMarker({ groups = {} }: RegExpExecArray, line: number): Marker {
  const type = sameDashes(groups.type ?? '')
  const { subtype, attributes } = readAttributes(type, groups.attributes)
  return {
    type,
    ...(subtype !== undefined && { subtype }),
    attributes,
    content: (groups.content ?? '').trim(),
    line,
    known: MARKER_TYPES.has(type),
  }
}

function readAttributes(type: string, text: string | undefined): Pick<Marker, 'subtype' | 'attributes'> {
  if (text === undefined) return { attributes: {} }
  // A source may be `doi:10.1000/x` or a URL: it is one word.
  if (type === 'CITATION') return { subtype: text, attributes: {} }
  const parts = text.split(':')
  const at = parts.findIndex((part) => !part.includes('='))
  const pairs = parts.filter((_, index) => index !== at).map(attributePair)
  const subtype = at < 0 ? undefined : sameDashes(parts[at] ?? '')
  return { ...(subtype !== undefined && { subtype }), attributes: Object.fromEntries(pairs) }
}

/** A further word without `=` is an attribute with an empty value. */
function attributePair(part: string): readonly [string, string] {
  const [key = '', ...value] = part.split('=')
  return [key, value.join('=')]
}

/** The taxonomy of markers: what a worker prints them for. Types beyond it are kept and flagged. */
export const MARKER_TYPES: ReadonlyMap<string, string> = new Map([
  ['OBJECTIVE', 'the question that is worked on'],
  ['HYPOTHESIS', 'what is expected, before it is tested'],
  ['EXPERIMENT', 'how it is tested'],
  ['OBSERVATION', 'what was seen'],
  ['ANALYSIS', 'what it means'],
  ['CONCLUSION', 'the answer'],
  ['DATA', 'which data was read'],
  ['SHAPE', 'rows and columns'],
  ['DTYPE', 'types of columns'],
  ['RANGE', 'smallest and largest values'],
  ['MISSING', 'values that are missing'],
  ['MEMORY', 'memory in use'],
  ['CALC', 'a value on the way'],
  ['METRIC', 'a measured number: `[METRIC:cv_accuracy_mean] 0.91`'],
  ['STAT', 'a statistic: `[STAT:ci]`, `[STAT:effect_size]`, `[STAT:p_value]`'],
  ['CORR', 'a correlation'],
  ['PLOT', 'a picture'],
  ['ARTIFACT', 'a file that was written'],
  ['TABLE', 'a table'],
  ['FINDING', 'a result that is claimed; its statistics stand in the 10 lines before it'],
  ['INSIGHT', 'an interpretation'],
  ['PATTERN', 'a regularity'],
  ['STEP', 'a step of the work'],
  ['STAGE', 'begin, end or progress of a stage'],
  ['CHECKPOINT', 'a state to go on from'],
  ['CHECK', 'something that was checked'],
  ['INFO', 'a note'],
  ['WARNING', 'a warning'],
  ['ERROR', 'an error'],
  ['REHYDRATED', 'work that went on from a checkpoint'],
  ['CITATION', 'a source: `[CITATION:doi:10.1000/x] "what it says"`'],
  ['LIMITATION', 'what the result does not cover'],
  ['NEXT_STEP', 'what comes next'],
  ['DECISION', 'a choice and its reason'],
])

/**
 * The number a metric's content begins with: an optional `=`, then sign, decimals (a leading dot too), exponent, up to
 * white space or the end. Anything else at that place is no number, whatever a lenient reader would make of it: `85%`,
 * `1,234`, `NaN`, `inf`, words, nothing.
 */
export function metricValue(
  content: string,
): { readonly ok: true; readonly value: number } | { readonly ok: false; readonly seen: string } {
  const rest = content.replace(/^\s*=?\s*/, '')
  const seen = /^\S*/.exec(rest)?.[0] ?? ''
  const value = Number(seen)
  return NUMBER.test(seen) && Number.isFinite(value) ? { ok: true, value } : { ok: false, seen: seen.slice(0, 40) }
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/

/**
 * Markers as they are compared with what a block was given: by type, subtype and what they say. Numbers go by their value
 * (0.950 is 0.95), of a METRIC nothing else counts; of other contents the words, numbers and signs, whatever blanks, marks
 * and case stand between them, and one that breaks off earlier says the same. Attributes are not compared.
 */
export interface MarkerSet {
  add(marker: Said): void
  has(marker: Said): boolean
}

type Said = Pick<Marker, 'type' | 'subtype' | 'content'>

/** A set of markers that grows, in which others are looked up. */
export function collectMarkers(): MarkerSet {
  const numbers = new Set<string>()
  const words = new Map<string, SortedWords>()
  return {
    add(marker) {
      const key = markerKey(marker)
      for (const number of numbersAt(marker)) numbers.add(`${key} ${number}`)
      const known = words.get(key) ?? sortedWords()
      known.add(wordsOf(marker.content))
      words.set(key, known)
    },
    has(marker) {
      const key = markerKey(marker)
      const value = marker.type === 'METRIC' ? metricValue(cleanText(marker.content)) : undefined
      if (value?.ok === true) return numbers.has(`${key} ${value.value}`)
      return words.get(key)?.has(wordsOf(marker.content)) ?? false
    },
  }
}

/**
 * Every marker that stands anywhere in a text: within a sentence, behind `>`, in fences, tables, emphasis and JSON, with
 * its content on the next line too. Whoever takes it out of there has read it and not measured it.
 */
export function markersAnywhere(text: string): readonly Said[] {
  if (!/[[［]/.test(text)) return []
  const plain = cleanText(text.replace(/\\[nrt]/g, '\n').replaceAll('\\', ''))
  const found = [...plain.matchAll(ANYWHERE)].slice(0, MOST_GIVEN)
  return found.map((match, index) => {
    const start = match.index + match[0].length
    const end = Math.min(found[index + 1]?.index ?? plain.length, start + MOST_CONTENT)
    const [line = '', next = ''] = plain.slice(start, end).split('\n', 2)
    const { type = '', attributes = '' } = match.groups ?? {}
    return { type: sameDashes(type), ...subtypeOf(type, attributes), content: HAS_WORD.test(line) ? line : next }
  })
}

/** Markers of one text that are compared; more than a text may say itself. */
const MOST_GIVEN = 50_000
const MOST_CONTENT = 4_000
const ANYWHERE = /\[(?<type>[A-Z][A-Z0-9_-]{0,99})(?::(?<attributes>[^\]\n]{1,1000}))?\]/g
const HAS_WORD = /[\p{L}\p{N}]/u

function subtypeOf(type: string, attributes: string): Pick<Marker, 'subtype'> | object {
  const subtype = type === 'CITATION' ? attributes : attributes.split(':').find((part) => !part.includes('='))
  return subtype === undefined || subtype === '' ? {} : { subtype: sameDashes(subtype) }
}

function markerKey({ type, subtype = '' }: Pick<Marker, 'type' | 'subtype'>): string {
  return `${type}:${sameDashes(cleanText(subtype)).trim()}`
}

/** Compatibility letters made one, and what nobody sees taken out. */
function cleanText(text: string): string {
  return text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')
}

/**
 * What a metric's content can be read as by whoever takes it over: the number it begins with, or any of its numbers where
 * it begins with none; with a comma as a point or as nothing, and as a share of 100.
 */
function numbersAt({ content }: Pick<Marker, 'content'>): readonly number[] {
  const text = cleanText(content)
  const numbers = [...text.matchAll(NUMBERS)]
  return (metricValue(text).ok ? numbers.slice(0, 1) : numbers).flatMap(([, number = '', percent]) => {
    const readings = [number, number.replaceAll(',', ''), number.replace(',', '.')].map(Number).filter(Number.isFinite)
    return percent === undefined ? readings : [...readings, ...readings.map((value) => Number(`${value}e-2`))]
  })
}

const NUMBERS = /([+-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?)(\s*(?:%|percent))?/gi

/** Words, numbers by their value, and the signs that change what is said, in small letters, one blank between them. */
function wordsOf(content: string): string {
  const found = cleanText(content).slice(0, MOST_CONTENT).toLowerCase().match(WORDS) ?? []
  return found.map((word) => (/^[+-]?\.?\d/.test(word) ? String(Number(word)) : word)).join(' ')
}

const WORDS =
  /(?<![\p{L}\p{N}])[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?(?![\p{L}\p{N}])|[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*|[<>=≤≥≠≈±%‰]|\p{Sc}|\p{So}/gu

interface SortedWords {
  add(text: string): void
  has(text: string): boolean
}

/** Texts of words by their beginnings: sorted when one is looked up, so that each look-up takes few steps. */
function sortedWords(): SortedWords {
  const texts: string[] = []
  let sorted = true
  return {
    add(text) {
      texts.push(text)
      sorted = false
    },
    has(text) {
      if (!sorted) texts.sort((a, b) => (a < b ? -1 : 1))
      sorted = true
      const at = lowerBound(texts, text)
      // A blank comes before every letter and sign: what goes on with another word stands right there.
      return text === '' ? texts.length > 0 : texts[at] === text || (texts[at]?.startsWith(`${text} `) ?? false)
    },
  }
}

/** The place of the first that is not before it. */
function lowerBound(texts: readonly string[], text: string): number {
  let [low, high] = [0, texts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((texts[middle] ?? '') < text) low = middle + 1
    else high = middle
  }
  return low
}
