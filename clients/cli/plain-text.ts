import { stripVTControlCharacters } from 'node:util'
import { displayWidth, startOf } from './display-width.ts'

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
  return displayWidth(text) <= columns ? text : `${startOf(text, columns - 1)}…`
}

/** C0 without tab and line feed, DEL, C1, bidi embeddings, overrides and isolates, line and paragraph separators. */
const UNPRINTABLE = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
