import type { Json } from '../../../shared/text/json.ts'

/** What one input says, in its own words. */
export interface Source {
  readonly name: string
  /** Markdown headings and items of numbered or bulleted lists; of JSON the member names. */
  readonly headings: readonly string[]
  readonly sentences: readonly string[]
}

const MAX_CHARACTERS = 200_000
const MAX_LEAVES = 2_000
const HEADING = /^\s*(?:#{1,6}|[-*+•]|\d{1,3}[.)])\s+/

/**
 * Inputs as sentences. A JSON input is read through its strings; its numbers and booleans become `path: value`.
 * Bounded: 200,000 characters a text, 2,000 values a JSON input; object refs are no text and say nothing.
 */
export function readInputSentences(inputs: Readonly<Record<string, Json>>): readonly Source[] {
  return Object.entries(inputs).map(([name, value]) => {
    if (typeof value === 'string') return { name, ...ofText(value) }
    const leaves: string[] = []
    collect(name, value, leaves)
    return { name, headings: memberNames(value), sentences: [...new Set(leaves)] }
  })
}

function ofText(value: string): Omit<Source, 'name'> {
  if (value.startsWith('objstore://')) return { headings: [], sentences: [] }
  const text = value.slice(0, MAX_CHARACTERS)
  const headings = text
    .split(/\r\n|\n|\r/)
    .filter((line) => HEADING.test(line))
    .map(plainLine)
  return { headings: [...new Set(headings)].filter((line) => line !== ''), sentences: distinctProseSentences(text) }
}

function collect(path: string, value: Json, leaves: string[]): void {
  if (leaves.length >= MAX_LEAVES || value === null) return
  if (typeof value === 'string') leaves.push(...ofText(value).sentences)
  else if (typeof value !== 'object') leaves.push(`${path}: ${value}`)
  else for (const [key, member] of Object.entries(value)) collect(`${path}.${key}`, member, leaves)
}

function memberNames(value: Json): readonly string[] {
  const sample = Array.isArray(value) ? value[0] : value
  return typeof sample === 'object' && sample !== null && !Array.isArray(sample) ? Object.keys(sample) : []
}

const SEGMENTER = new Intl.Segmenter('en', { granularity: 'sentence' })
const WORD = /[\p{L}\p{N}]+/gu
const RULED = /^(?:\||```|~~~|[-*_=\s]+$)/
const MARKER = /^(?:#{1,6}\s+|>\s*|[-*+•]\s+|\d{1,3}[.)]\s+)+/

const STOP = new Set(
  'a an and are as at be but by do each every for from has have how i if in into is it its no not of on or our shall so such than that the their them then there these they this those to was we were what when where which who will with you your'.split(
    ' ',
  ),
)

/**
 * Sentences of a text in order, without repeats: line by line, list and heading marks taken off, lines that are table
 * rows, fences or rules left out (unless there is nothing else). Each has at least one letter or digit.
 */
export function distinctProseSentences(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n|\r/)
  const prose = lines.filter((line) => !RULED.test(line.trim())).flatMap(split)
  return [...new Set(prose.length > 0 ? prose : lines.flatMap(split))]
}

/** Lower-case words that carry meaning, a plural `s` taken off. */
export function termsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(WORD) ?? []
  return words.filter((word) => !STOP.has(word)).map((word) => (word.length > 3 ? word.replace(/s$/, '') : word))
}

/** A line without its list, heading and quotation marks, each white space one blank. */
function plainLine(line: string): string {
  return line.trim().replace(MARKER, '').replace(/\s+/g, ' ')
}

function split(line: string): string[] {
  const plain = plainLine(line)
  return [...SEGMENTER.segment(plain)].map(({ segment }) => segment.trim()).filter((part) => /[\p{L}\p{N}]/u.test(part))
}
