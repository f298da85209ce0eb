/** A text object of Block Kit in which nothing is markup: no mention, link, emoji or format. */
export interface PlainText {
  readonly type: 'plain_text'
  readonly text: string
  readonly emoji: false
}

/** Any text as one; empty is not allowed there. */
export function plain(text: string, most = MOST): PlainText {
  return { type: 'plain_text', text: escaped(text, most) || '-', emoji: false }
}

/**
 * Text of people, documents and models for Slack: control and bidi characters gone (an approval must not read otherwise
 * than what it says), & < > escaped, at most so many characters as they are sent, an ellipsis where something is missing.
 */
export function escaped(text: string, most = MOST): string {
  const clean = text
    .slice(0, 4 * most)
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(UNSHOWN, '')
    .trim()
  let sent = ''
  for (const point of clean) {
    const next = sent + (ESCAPES[point] ?? point)
    if (next.length > most - 1) return `${sent}…`
    sent = next
  }
  return text.length > 4 * most ? `${sent}…` : sent
}

/** Of Slack's 3,000 characters a text. */
const MOST = 2_900

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** C0 without tab and line feed, DEL, C1, bidi controls, line and paragraph separators, invisible tags. */
const UNSHOWN = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu
