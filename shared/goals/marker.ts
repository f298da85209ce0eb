import { MARKER_TYPES } from './marker-types.ts'

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

/** Markers of one text that are read; what stands behind them is none. */
const MOST_MARKERS = 10_000

/**
 * The markers of a text, one a line at most (docs/goal-gates.md, "Markers"). Only white space may stand before the
 * bracket: quoted lines (`> [METRIC:x] 1`), brackets inside of sentences and everything between fences (``` or ~~~; one
 * that is never closed goes to the end) are prose. \r\n is \n. The first 10,000; one more is told by `isCut`.
 */
export function parseMarkers(text: string): readonly Marker[] {
  return markersOf(text).slice(0, MOST_MARKERS)
}

/** Whether a text has more markers than are read. */
export function isCut(text: string): boolean {
  return markersOf(text).length > MOST_MARKERS
}

function markersOf(text: string): readonly Marker[] {
  const markers: Marker[] = []
  let fence = ''
  for (const [index, line] of text.split('\n').entries()) {
    const before = fence
    fence = fenceAfter(line, before)
    const match = before === '' && fence === '' ? MARKER.exec(line) : null
    const marker = match === null ? undefined : read(match, index + 1)
    if (marker !== undefined && !hasForbiddenName(marker)) markers.push(marker)
    if (markers.length > MOST_MARKERS) break
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

/** The marks a line leaves open, where `open` are open before it; empty = none. */
function fenceAfter(line: string, open: string): string {
  const marks = FENCE.exec(line)?.[1] ?? ''
  if (open === '') return marks
  return marks.startsWith(open) && line.trim() === marks ? '' : open
}

/** Three or more at the beginning of a line; behind backticks no backtick follows. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/

/** How types and subtypes are compared: `-` and `_` are equal. */
export function sameDashes(word: string): string {
  return word.replaceAll('-', '_')
}

const MARKER = /^\s*\[(?<type>[A-Z][A-Z0-9_-]*)(?::(?<attributes>[^\]]+))?\](?<content>.*)$/s

function read({ groups = {} }: RegExpExecArray, line: number): Marker {
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
  const pairs = parts.filter((_, index) => index !== at).map(pair)
  const subtype = at < 0 ? undefined : sameDashes(parts[at] ?? '')
  return { ...(subtype !== undefined && { subtype }), attributes: Object.fromEntries(pairs) }
}

/** A further word without `=` is an attribute with an empty value. */
function pair(part: string): readonly [string, string] {
  const [key = '', ...value] = part.split('=')
  return [key, value.join('=')]
}
