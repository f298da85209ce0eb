import { bareQuotation } from './quotations.ts'

/** Characters below which a quote does not count (docs/research.md, "Quotes"). */
const MIN_CHARACTERS = 12
/** A longer quotation is a copy; it is not_found rather than searched. */
const MAX_CHARACTERS = 20_000
/** Parts of a spliced quote that are still looked for. */
const MAX_PARTS = 8

/** A place in a stored body: bytes of its UTF-8, `end` exclusive. */
type QuotePosition = {
  readonly source_id: string
  readonly start: number
  readonly end: number
}

/**
 * `cut`: it stands there, but only right behind what denies it (`not`, `it is not true that`, `failed to`), or without its
 * condition (`if`, `unless`). `misattributed`: not in the named source, but in this one. `frankenquote`: every part of it (of at least 12 characters) occurs, the whole nowhere.
 */
export type QuoteFinding =
  | ({ readonly verdict: 'found' | 'cut' | 'misattributed' } & QuotePosition)
  | { readonly verdict: 'frankenquote'; readonly parts: readonly QuotePosition[] }
  | { readonly verdict: 'not_found' }

/**
 * Whether a quotation stands in a stored body word for word. Without `sourceId` any body will do. How it is set counts
 * nothing: see quoteWords(), and its first letter may be a capital or none, its last mark another. undefined = under 12
 * characters, it does not count. At most eight readings of it are looked for, each in one walk over the bodies.
 */
export function checkQuote(index: QuoteIndex, quote: string, sourceId?: string): QuoteFinding | undefined {
  if (quote.length > MAX_CHARACTERS) return { verdict: 'not_found' }
  const [plain = [], ...others] = readingsOf(quote)
  if (lengthOf(plain, 0, plain.length) < MIN_CHARACTERS) return undefined
  const wanted = [plain, ...others]
    .map((words) => numbersOf(index, words))
    .filter((numbers) => !numbers.includes(UNKNOWN))
  const places = wanted.flatMap((numbers) => index.bodies.flatMap((body) => wholeIn(body, numbers)))
  const own = places.filter(({ source_id }) => sourceId === undefined || source_id === sourceId)
  const found = own.find(({ denied }) => !denied) ?? own[0]
  if (found !== undefined) return { verdict: found.denied ? 'cut' : 'found', ...positionIn(found) }
  const [other] = places
  if (other !== undefined) return { verdict: 'misattributed', ...positionIn(other) }
  const [first] = wanted
  const parts =
    first === undefined || numbersOf(index, plain).includes(UNKNOWN) ? undefined : partsOf(index.bodies, first, plain)
  return parts === undefined ? { verdict: 'not_found' } : { verdict: 'frankenquote', parts }
}

function positionIn({ source_id, start, end }: QuotePosition): QuotePosition {
  return { source_id, start, end }
}

/** A quotation as it may have been set: with another first letter, without its last mark, with a hyphen at a line's end. */
function readingsOf(quote: string): readonly Words[] {
  const bare = bareQuotation(quote)
  const joined = withoutMarks(quoteWords(bare))
  const written = HYPHEN_BREAK.test(bare) ? [joined, withoutMarks(quoteWords(bare, true))] : [joined]
  const turned = written.flatMap((words) => [words, ...withOtherCase(words)])
  return turned.flatMap((words) => [words, ...(LAST_MARK.test(words.at(-1)?.word ?? '') ? [words.slice(0, -1)] : [])])
}

/** A mark that a quotation ends with where its sentence goes on. `?` says something. */
const LAST_MARK = /^[.,;:…]$/

function withOtherCase(words: Words): readonly Words[] {
  const [first, ...rest] = words
  const [letter = ''] = first?.word ?? ''
  const other = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase()
  if (first === undefined || other === letter || [...other].length !== 1) return []
  return [[{ ...first, word: `${other}${first.word.slice(letter.length)}` }, ...rest]]
}

function numbersOf({ numbers }: QuoteIndex, words: Words): Int32Array {
  return Int32Array.from(words, ({ word }) => numbers.get(word) ?? UNKNOWN)
}

/** Whether the words of a quotation stand there one after the other, however short it is. */
export function isVerbatimIn(index: QuoteIndex, quote: string, sourceId?: string): boolean {
  const own = index.bodies.filter(({ source }) => sourceId === undefined || source.id === sourceId)
  return readingsOf(quote.replace(/[.,;:!?…]+$/u, '')).some((words) => {
    const wanted = numbersOf(index, words)
    return wanted.length === 0 || (!wanted.includes(UNKNOWN) && own.some((body) => wholeIn(body, wanted).length > 0))
  })
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

/** The first place that nothing denies, else the first. */
function wholeIn(body: IndexedBody, wanted: Int32Array): readonly (QuotePosition & { readonly denied: boolean })[] {
  let first: (QuotePosition & { readonly denied: boolean }) | undefined
  let from = 0
  for (let looks = 0; looks < MAX_PLACES; looks += 1) {
    const { at } = searchWords(body.words.subarray(from), wanted)
    if (at === undefined) break
    const start = from + at
    const { text } = body.source
    const [begins, behind] = [body.starts[start] ?? 0, body.ends[start + wanted.length - 1] ?? 0]
    const denied =
      isDenied(text.slice(Math.max(0, begins - MOST_BEFORE), begins)) ||
      CONDITION_BEHIND.test(text.slice(behind, behind + MOST_BEHIND))
    const place = { ...positionOf(body, start, start + wanted.length), denied }
    if (!denied) return [place]
    first ??= place
    from = start + 1
  }
  return first === undefined ? [] : [first]
}

/** Denied places of one quotation in one body that are passed over. */
const MAX_PLACES = 20

/** Whether the words right before say that what follows is not so, or that it holds under a condition. */
function isDenied(before: string): boolean {
  const last = before.split(/[.!?…;](?:["'”’)\]]{0,3})\s/u).at(-1) ?? ''
  const plain = plainWords(last)
  return DENIES.test(plain) || CONDITION.test(plain)
}

function plainWords(text: string): string {
  return text
    .replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/gu, '')
    .replace(/\s+/g, ' ')
    .toLowerCase()
    .replace(/n['’]t\b/g, ' not')
}

/** `If the river rises, ` before what then is, with nothing between that ends it. */
const CONDITION = /^["'“‘«„(\s]*(?:if|unless|in case|provided that|assuming that)\s[^.!?…;]*,\s?["'“‘«„]?\s?$/u
/** ` if the river rises` behind it. */
const CONDITION_BEHIND = /^,?\s+(?:only\s+)?(?:if|unless|provided\s+that|in\s+case)\s/iu
const MOST_BEHIND = 24

const MOST_BEFORE = 120
const DENIES =
  /(?<![\p{L}\p{N}])(?:(?:fail(?:s|ed|ing)?|refuse[sd]?|refusing|decline[sd]?|declining|unable|unwilling|forbidden|failure|refusal|inability) to|if|unless|whether|(?:not|no|never|neither|nor|without|cannot|hardly)(?: (?:a|an|the|any|that|this))?|(?:(?:not|never) (?:true|right|correct|the case)|untrue|false|wrong|incorrect|no evidence|no proof|not proven|a myth|a hoax|a lie|denie[sd]|deny|disputed?|doubts?|doubted|refuted?|not say|never said|not said|never claimed|not claim|not believe|unproven)(?: (?:that|whether|if|the claim that|the idea that))?)[,:]?\s?["'“‘«„]?\s?$/u

function positionOf({ source, starts, ends }: IndexedBody, from: number, to: number): QuotePosition {
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
function partsOf(
  bodies: readonly IndexedBody[],
  wanted: Int32Array,
  words: Words,
): readonly QuotePosition[] | undefined {
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

function longestStart(bodies: readonly IndexedBody[], wanted: Int32Array): { length: number; place?: QuotePosition } {
  let best: { length: number; place?: QuotePosition } = { length: 0 }
  for (const body of bodies) {
    const { longest, longestAt } = searchWords(body.words, wanted)
    if (longest > best.length) best = { length: longest, place: positionOf(body, longestAt, longestAt + longest) }
  }
  return best
}

/** The same from the other end. */
function longestEnd(bodies: readonly IndexedBody[], wanted: Int32Array): number {
  const reversed = wanted.toReversed()
  return Math.max(...bodies.map(({ words }) => searchWords(words.toReversed(), reversed).longest))
}

/** A stored body somebody may quote. */
export interface QuoteSource {
  readonly id: string
  readonly text: string
}

/** A body as the numbers of its words, and where each stands in it (UTF-16 units). */
interface IndexedBody {
  readonly source: QuoteSource
  readonly words: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

export interface QuoteIndex {
  readonly bodies: readonly IndexedBody[]
  /** Words as they are compared, each with its number. */
  readonly numbers: ReadonlyMap<string, number>
}

/** Prepares bodies for any number of quotes: linear in their text, about ten bytes of memory a character. */
export function indexQuoteSources(sources: readonly QuoteSource[]): QuoteIndex {
  const numbers = new Map<string, number>()
  const numberOf = (word: string): number => {
    const known = numbers.get(word) ?? numbers.size
    if (known === numbers.size) numbers.set(word, known)
    return known
  }
  // A word that a line's end cuts is read with its hyphen and without.
  const bodies = sources.flatMap((source) => {
    const joined = indexBody(source, false, numberOf)
    return HYPHEN_BREAK.test(source.text) ? [joined, indexBody(source, true, numberOf)] : [joined]
  })
  return { bodies, numbers }
}

/**
 * The words of a text as quotes are compared: whitespace does not count, dashes and quote marks are one kind each; nor do
 * soft hyphens, characters of no width, ligatures, how an accent is encoded, and a hyphen at the end of a line (it is part
 * of the word or not: `isKept`). A word is never cut: `5` is not in `15`, `1.5`, `-5`, `$5` or `5%`, `does` not in
 * `doesn't`, `fatal` not in `non-fatal`. Letters, case, digits, accents and marks that reorder stay as they are.
 */
function quoteWords(
  text: string,
  isKept = false,
): readonly { readonly word: string; readonly at: number; readonly end: number }[] {
  const words: { word: string; at: number; end: number }[] = []
  eachWord(text, isKept, (word, at, end) => words.push({ word, at, end }))
  return words
}

function indexBody(source: QuoteSource, isKept: boolean, numberOf: (word: string) => number): IndexedBody {
  const words: number[] = []
  const starts: number[] = []
  const ends: number[] = []
  eachWord(source.text, isKept, (word, at, end) => {
    words.push(numberOf(word))
    starts.push(at)
    ends.push(end)
  })
  return { source, words: Int32Array.from(words), starts: Int32Array.from(starts), ends: Int32Array.from(ends) }
}

/** No list of matches in between: a body may have a million words. */
function eachWord(text: string, isKept: boolean, visit: (word: string, at: number, end: number) => void): void {
  WORD.lastIndex = 0
  for (let match = WORD.exec(text); match !== null; match = WORD.exec(text)) {
    const word = plain(match[0], isKept)
    // Nothing but characters of no width.
    if (word !== '') visit(word, match.index, WORD.lastIndex)
  }
}

const HYPHENS = '\\-\u2010\u2011\u2012\u2013\u2212'
const SINGLE = "'\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u00b4`"
const LETTER = '[\\p{L}\\p{M}\\p{N}\\p{Cf}_]'
const BREAK = '[^\\S\\n]{0,20}\\n[^\\S\\n]{0,20}(?=\\p{Ll})'
/** A word that goes on in the next line: `exam-` and `ple`. */
const HYPHEN_BREAK = new RegExp(`(?:(?<=\\p{L})[-\\u2010]|(?<=\\u00ad))${BREAK}`, 'u')
/**
 * A number with its sign, currency and percent; a run of letters joined by single marks; dashes; any other character.
 * No two neighbours of the pattern share a character, so it is linear. The first branch only makes plain words fast.
 */
const WORD = new RegExp(
  `[A-Za-z]+(?=\\s)|(?:[${HYPHENS}+±]?\\p{Sc}?(?=\\p{N}))?${LETTER}+(?:(?:[${HYPHENS}${SINGLE}.,:/@&]|(?:(?<=\\p{L})[-\\u2010]|(?<=\\u00ad))${BREAK})${LETTER}+)*[%‰\\p{Sc}]?|[${HYPHENS}\u2014\u2015]+|\`\`|(?<!')''(?!')|[^\\s]`,
  'gu',
)

const DASH_RUN = new RegExp(`^[${HYPHENS}\u2014\u2015]+$`, 'u')
const EVERY_HYPHEN = new RegExp(`[${HYPHENS}]`, 'gu')
const EVERY_SINGLE = new RegExp(`[${SINGLE}]`, 'gu')
const EVERY_DOUBLE = /[\u201c-\u201f\u00ab\u00bb\u2033\u301d-\u301f\uff02]/gu

function plain(written: string, isKept: boolean): string {
  if (ASCII_WORD.test(written)) return written
  if (DASH_RUN.test(written)) return '-'
  // Two single marks are how a double one is typed.
  if (written === '``' || written === "''") return '"'
  const whole = written.replace(SOFT_BREAK, '').replace(BROKEN, isKept ? '-' : '')
  const word = whole.replace(NO_WIDTH, '').replace(LIGATURE, (one) => one.normalize('NFKC'))
  return word.normalize('NFC').replace(EVERY_HYPHEN, '-').replace(EVERY_SINGLE, "'").replace(EVERY_DOUBLE, '"')
}

const SOFT_BREAK = /\u00ad[^\S\n]*\n[^\S\n]*/gu
const BROKEN = /[-\u2010][^\S\n]*\n[^\S\n]*/gu
/** Soft hyphens, and characters nobody sees; marks that reorder are none of them. */
const NO_WIDTH = /[\u00ad\u200b-\u200d\u2060\ufeff]/gu
const LIGATURE = /[\ufb00-\ufb06]/gu

/** Most words, and nothing to replace in them. */
const ASCII_WORD = /^[A-Za-z0-9]+$/

/**
 * Where `wanted` first stands in `words` as a whole, and the longest start of it found anywhere: Knuth, Morris and
 * Pratt's search (1977), so every word of the body is looked at at most twice whatever the quote.
 */
function searchWords(
  words: Int32Array,
  wanted: Int32Array,
): { readonly at: number | undefined; readonly longest: number; readonly longestAt: number } {
  const back = fallbacks(wanted)
  let matched = 0
  let longest = 0
  let longestAt = 0
  for (let i = 0; i < words.length; i += 1) {
    while (matched > 0 && words[i] !== wanted[matched]) matched = back[matched - 1] ?? 0
    if (words[i] === wanted[matched]) matched += 1
    if (matched > longest) [longest, longestAt] = [matched, i + 1 - matched]
    if (matched === wanted.length) return { at: longestAt, longest, longestAt }
  }
  return { at: undefined, longest, longestAt }
}

/** Of each start of `wanted`, the length of the longest shorter start that also ends it. */
function fallbacks(wanted: Int32Array): Int32Array {
  const back = new Int32Array(wanted.length)
  let matched = 0
  for (let i = 1; i < wanted.length; i += 1) {
    while (matched > 0 && wanted[i] !== wanted[matched]) matched = back[matched - 1] ?? 0
    if (wanted[i] === wanted[matched]) matched += 1
    back[i] = matched
  }
  return back
}
