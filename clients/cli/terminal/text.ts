import { stripVTControlCharacters } from 'node:util'

/**
 * Makes text of a run, a document or a server safe to print: escape sequences and other control characters could move
 * the cursor or retitle the terminal, bidi controls could show an approval that reads differently from what it says.
 * Tabs and line ends stay.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).replace(UNPRINTABLE, '')
}

/** The same on one line: every run of white space becomes one space. */
export function oneLine(text: string): string {
  return plainText(text).replace(/\s+/g, ' ').trim()
}

/** At most `columns` columns of a terminal, the last one an ellipsis where something is missing. */
export function cut(text: string, columns: number): string {
  return displayWidth(text) <= columns ? text : `${leadingColumns(text, columns - 1)}…`
}

/** C0 without tab and line feed, DEL, C1, bidi embeddings, overrides and isolates, line and paragraph separators. */
const UNPRINTABLE = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/**
 * JSON for stdout: one line, or indented by `indent`. Characters a terminal could obey or a reader not see (C1
 * controls, bidi marks) are written as \uXXXX: the same data, safe to look at.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNSAFE, escaped)
}

/** Everything below U+0020 is escaped by JSON itself. */
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Text as lines of at most `columns` code points, each after `indent`; a longer word stands on a line of its own. */
export function wrapText(text: string, columns: number, indent = ''): readonly string[] {
  const room = Math.max(columns - indent.length, 20)
  const lines: string[] = []
  let open = ''
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const longer = open === '' ? word : `${open} ${word}`
    if ([...longer].length > room && open !== '') {
      lines.push(open)
      open = word
    } else open = longer
  }
  return [...lines, ...(open === '' ? [] : [open])].map((line) => `${indent}${line}`)
}

/** At most `columns` columns, with the ellipsis in the middle: ids that begin alike are still told apart. */
export function cutMiddle(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  const tail = Math.floor((columns - 1) / 2)
  return `${leadingColumns(text, columns - 1 - tail)}…${trailingColumns(text, tail)}`
}

/** Columns a terminal gives a text: two for wide characters and emoji, none for marks; plain text only. */
export function displayWidth(text: string): number {
  // Most lines have nothing special: their code points are counted.
  if (!SPECIAL.test(text)) return text.length
  return sum(segmentsOf(text).map(widthOf))
}

/** As much of the beginning of a text as has that many columns. */
function leadingColumns(text: string, columns: number): string {
  return fitting(segmentsOf(text), columns).join('')
}

/** As much of its end. */
function trailingColumns(text: string, columns: number): string {
  return fitting(segmentsOf(text).toReversed(), columns).toReversed().join('')
}

/** Marks, joiners, emoji, surrogates, and what Unicode's EastAsianWidth.txt calls W or F. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|.\ufe0f)/u
const SPECIAL = /[\p{M}\p{Cf}\p{Emoji_Presentation}\u1100-\u11ff\u2e80-\ud7ff\uf900-\uffff\u{10000}-\u{10ffff}]/u
const NOTHING = /^[\p{M}\p{Cf}]+$/u

function widthOf(segment: string): number {
  if (NOTHING.test(segment)) return 0
  return WIDE.test(segment) ? 2 : 1
}

/** Made when a text needs it: to make it takes 3 % of the start of `sluice validate`. */
let graphemes: Intl.Segmenter | undefined

function segmentsOf(text: string): readonly string[] {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return [...graphemes.segment(text)].map(({ segment }) => segment)
}

function fitting(segments: readonly string[], columns: number): readonly string[] {
  let left = columns
  const end = segments.findIndex((segment) => {
    left -= widthOf(segment)
    return left < 0
  })
  return end < 0 ? segments : segments.slice(0, end)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
