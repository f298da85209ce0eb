import type { Json } from '../canonical.ts'
import { escaped, type PlainText, plain } from './plain.ts'

/** One block of a message or a modal. */
export type Block = { readonly type: string } & Readonly<Record<string, unknown>>

/** Blocks as the wire takes them: they are plain data. */
export function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value))
}

export const block = {
  header: (text: string): Block => ({ type: 'header', text: plain(text, 150) }),
  text: (text: string, most?: number): Block => ({ type: 'section', text: plain(text, most) }),
  /** At most ten pairs, side by side. */
  facts: (pairs: readonly (readonly [name: string, value: string])[]): Block => ({
    type: 'section',
    fields: pairs.slice(0, 10).map(([name, value]): PlainText => plain(`${name}\n${value}`, 500)),
  }),
  /** Small print: the only mrkdwn there is, made of checked ids and times alone. */
  small: (markup: string): Block => ({ type: 'context', elements: [{ type: 'mrkdwn', text: markup, verbatim: true }] }),
}

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
