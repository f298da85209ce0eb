import type { Json } from '../canonical.ts'
import { type PlainText, plain } from './plain.ts'

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
