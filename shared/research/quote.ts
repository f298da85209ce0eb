import { bareQuotation } from './quotations.ts'
import { type IndexedBody, type QuoteIndex, quoteWords } from './quote-index.ts'
import { searchWords } from './word-search.ts'

/** Characters below which a quote does not count (docs/research.md, "Quotes"). */
const MIN_CHARACTERS = 12
/** A longer quotation is a copy; it is not_found rather than searched. */
const MAX_CHARACTERS = 20_000
/** Parts of a spliced quote that are still looked for. */
const MAX_PARTS = 8

/** A place in a stored body: bytes of its UTF-8, `end` exclusive. */
export type QuotePlace = {
  readonly source_id: string
  readonly start: number
  readonly end: number
}

/**
 * `misattributed`: not in the named source, but in this one. `frankenquote`: every part of it (of at least 12
 * characters) occurs, the whole nowhere.
 */
export type QuoteFinding =
  | ({ readonly verdict: 'found' | 'misattributed' } & QuotePlace)
  | { readonly verdict: 'frankenquote'; readonly parts: readonly QuotePlace[] }
  | { readonly verdict: 'not_found' }

/**
 * Whether a quotation stands in a stored body word for word (quote-index.ts says what a word is). Without `sourceId`
 * any body will do. undefined = under 12 characters, it does not count. At most nine walks over the bodies.
 */
export function checkQuote(index: QuoteIndex, quote: string, sourceId?: string): QuoteFinding | undefined {
  if (quote.length > MAX_CHARACTERS) return { verdict: 'not_found' }
  const words = withoutMarks(quoteWords(bareQuotation(quote)))
  if (lengthOf(words, 0, words.length) < MIN_CHARACTERS) return undefined
  const wanted = Int32Array.from(words, ({ word }) => index.numbers.get(word) ?? UNKNOWN)
  if (wanted.includes(UNKNOWN)) return { verdict: 'not_found' }
  const places = index.bodies.flatMap((body) => wholeIn(body, wanted))
  const own = places.find(({ source_id }) => sourceId === undefined || source_id === sourceId)
  if (own !== undefined) return { verdict: 'found', ...own }
  const [other] = places
  if (other !== undefined) return { verdict: 'misattributed', ...other }
  const parts = partsOf(index.bodies, wanted, words)
  return parts === undefined ? { verdict: 'not_found' } : { verdict: 'frankenquote', parts }
}

/** Whether the words of a quotation stand there one after the other, however short it is. */
export function standsThere({ bodies, numbers }: QuoteIndex, quote: string, sourceId?: string): boolean {
  const words = withoutMarks(quoteWords(bareQuotation(quote.replace(/[.,;:!?…]+$/u, ''))))
  const wanted = Int32Array.from(words, ({ word }) => numbers.get(word) ?? UNKNOWN)
  const own = bodies.filter(({ source }) => sourceId === undefined || source.id === sourceId)
  return wanted.length === 0 || (!wanted.includes(UNKNOWN) && own.some((body) => wholeIn(body, wanted).length > 0))
}

const UNKNOWN = -1

type Words = ReturnType<typeof quoteWords>

/** The pair of marks a quotation itself stands in is not part of it. */
function withoutMarks(words: Words): Words {
  const [first, last] = [words.at(0)?.word, words.at(-1)?.word]
  return words.length > 2 && first === last && (first === '"' || first === "'") ? words.slice(1, -1) : words
}

/** Characters of the words from `from` to `to`, one blank between two. */
function lengthOf(words: Words, from: number, to: number): number {
  const part = words.slice(from, to)
  const characters = part.reduce((sum, { word }) => sum + [...word].length, 0)
  return characters === 0 ? 0 : characters + part.length - 1
}

function wholeIn(body: IndexedBody, wanted: Int32Array): readonly QuotePlace[] {
  const { at } = searchWords(body.words, wanted)
  return at === undefined ? [] : [placeOf(body, at, at + wanted.length)]
}

function placeOf({ source, starts, ends }: IndexedBody, from: number, to: number): QuotePlace {
  const start = utf8Length(source.text.slice(0, starts[from]))
  const end = start + utf8Length(source.text.slice(starts[from], ends[to - 1]))
  return { source_id: source.id, start, end }
}

/** Browsers, where the console checks quotations too, have no Buffer. */
function utf8Length(text: string): number {
  return ENCODER.encode(text).length
}

const ENCODER = new TextEncoder()

/** The fewest parts, longest first part first; the last may take words from the one before to be long enough. */
function partsOf(bodies: readonly IndexedBody[], wanted: Int32Array, words: Words): readonly QuotePlace[] | undefined {
  const cuts = [0]
  for (let from = 0; from < wanted.length; ) {
    const longest = longestStart(bodies, wanted.subarray(from)).length
    if (longest === 0 || cuts.length > MAX_PARTS) return undefined
    from += longest
    cuts.push(from)
  }
  const last = cuts.at(-2) ?? 0
  const before = cuts.at(-3) ?? 0
  const tail = longestEnd(bodies, wanted)
  let cut = Math.max(before + 1, wanted.length - tail)
  while (cut < last && lengthOf(words, before, cut) < MIN_CHARACTERS) cut += 1
  cuts[cuts.length - 2] = Math.min(cut, last)
  const spans = cuts.slice(1).map((to, i) => ({ from: cuts[i] ?? 0, to }))
  if (spans.some(({ from, to }) => lengthOf(words, from, to) < MIN_CHARACTERS)) return undefined
  return spans.flatMap(({ from, to }) => longestStart(bodies, wanted.subarray(from, to)).place ?? [])
}

function longestStart(bodies: readonly IndexedBody[], wanted: Int32Array): { length: number; place?: QuotePlace } {
  let best: { length: number; place?: QuotePlace } = { length: 0 }
  for (const body of bodies) {
    const { longest, longestAt } = searchWords(body.words, wanted)
    if (longest > best.length) best = { length: longest, place: placeOf(body, longestAt, longestAt + longest) }
  }
  return best
}

/** The same from the other end. */
function longestEnd(bodies: readonly IndexedBody[], wanted: Int32Array): number {
  const reversed = wanted.toReversed()
  return Math.max(...bodies.map(({ words }) => searchWords(words.toReversed(), reversed).longest))
}
