import type { Json } from '../canonical.ts'
import { oneSentence } from './one-sentence.ts'

/** Bytes of JSON a verdict's facts may have: larger ones would not fit the event. */
const LIMIT = 512

/** Text lengths and list lengths tried in turn until the facts fit. */
const CUTS = [
  { text: 120, items: 10 },
  { text: 40, items: 5 },
  { text: 12, items: 2 },
] as const

type Facts = Readonly<Record<string, Json>>

/** Facts cut to 512 bytes of JSON: long texts and lists keep their start and a note of their real length. */
export function smallFacts(facts: Facts): Facts {
  for (const cut of CUTS) {
    const small = Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, shorten(value, cut)]))
    if (Buffer.byteLength(JSON.stringify(small)) <= LIMIT) return small
  }
  return { note: `facts of ${Buffer.byteLength(JSON.stringify(facts))} bytes are left out, at most ${LIMIT} are kept` }
}

function shorten(value: Json, cut: (typeof CUTS)[number]): Json {
  if (typeof value === 'string') return shortenText(value, cut.text)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const start = value.slice(0, cut.items).map((item) => shorten(item, cut))
    return value.length > cut.items ? [...start, `… (${value.length} items)`] : start
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [shortenText(key, cut.text), shorten(member, cut)]),
  )
}

function shortenText(text: string, limit: number): string {
  if (text.length <= limit) return oneSentence(text, limit)
  return `${oneSentence(text, limit)} (${text.length} characters)`
}
