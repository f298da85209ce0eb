import type { Json } from '../text/json.ts'

/** One block of a message or a modal. */
export type Block = { readonly type: string } & Readonly<Record<string, unknown>>

/** Blocks as the wire takes them: they are plain data. */
export function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value))
}

export const block = {
  header: (text: string): Block => ({ type: 'header', text: plainTextObject(text, 150) }),
  text: (text: string, most?: number): Block => ({ type: 'section', text: plainTextObject(text, most) }),
  /** At most ten pairs, side by side. */
  facts: (pairs: readonly (readonly [name: string, value: string])[]): Block => ({
    type: 'section',
    fields: pairs.slice(0, 10).map(([name, value]): PlainText => plainTextObject(`${name}\n${value}`, 500)),
  }),
  /** Small print: the only mrkdwn there is, made of checked ids and times alone. */
  small: (markup: string): Block => ({ type: 'context', elements: [{ type: 'mrkdwn', text: markup, verbatim: true }] }),
}

/** A text object of Block Kit in which nothing is markup: no mention, link, emoji or format. */
interface PlainText {
  readonly type: 'plain_text'
  readonly text: string
  readonly emoji: false
}

/** Any text as one; empty is not allowed there. */
export function plainTextObject(text: string, most = MOST): PlainText {
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

/** A moment in the reader's own time zone. */
export function dateMarkup(iso: string): string {
  const seconds = Math.floor(Date.parse(iso) / 1_000)
  return Number.isFinite(seconds)
    ? `<!date^${seconds}^{date_short_pretty} {time}|${escaped(iso, 40)}>`
    : escaped(iso, 40)
}

/** Members of the workspace among these principals, told as Slack tells somebody; each once, the first twenty. */
export function mentions(names: readonly string[], users: Readonly<Record<string, string>>): string {
  const known = names.flatMap((name) => {
    const own = /^slack:([UW][A-Z0-9]{2,20})$/.exec(name)?.[1]
    return own === undefined ? Object.keys(users).filter((id) => users[id] === name) : [own]
  })
  return [...new Set(known)]
    .slice(0, 20)
    .map((id) => `<@${id}>`)
    .join(' ')
}
