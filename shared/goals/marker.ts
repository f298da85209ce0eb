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
  const same = normaliseDashes(name)
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
export function normaliseDashes(word: string): string {
  return word.replaceAll('-', '_')
}

const MARKER = /^\s*\[(?<type>[A-Z][A-Z0-9_-]*)(?::(?<attributes>[^\]]+))?\](?<content>.*)$/s

function readMarker({ groups = {} }: RegExpExecArray, line: number): Marker {
  const type = normaliseDashes(groups.type ?? '')
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
  const subtype = at < 0 ? undefined : normaliseDashes(parts[at] ?? '')
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
