/** A stored body somebody may quote. */
export interface QuoteSource {
  readonly id: string
  readonly text: string
}

/** A body as the numbers of its words, and where each stands in it (UTF-16 units). */
export interface IndexedBody {
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
export function indexQuotes(sources: readonly QuoteSource[]): QuoteIndex {
  const numbers = new Map<string, number>()
  const numberOf = (word: string): number => {
    const known = numbers.get(word) ?? numbers.size
    if (known === numbers.size) numbers.set(word, known)
    return known
  }
  return { bodies: sources.map((source) => indexBody(source, numberOf)), numbers }
}

/**
 * The words of a text as quotes are compared: whitespace does not count, dashes and quote marks are one kind each.
 * A word is never cut: `5` is not in `15`, `1.5`, `-5`, `$5` or `5%`, `does` not in `doesn't`, `fatal` not in
 * `non-fatal`. Letters, case, digits, accents and invisible characters stay as they are.
 */
export function quoteWords(
  text: string,
): readonly { readonly word: string; readonly at: number; readonly end: number }[] {
  const words: { word: string; at: number; end: number }[] = []
  eachWord(text, (word, at, end) => words.push({ word, at, end }))
  return words
}

function indexBody(source: QuoteSource, numberOf: (word: string) => number): IndexedBody {
  const words: number[] = []
  const starts: number[] = []
  const ends: number[] = []
  eachWord(source.text, (word, at, end) => {
    words.push(numberOf(word))
    starts.push(at)
    ends.push(end)
  })
  return { source, words: Int32Array.from(words), starts: Int32Array.from(starts), ends: Int32Array.from(ends) }
}

/** No list of matches in between: a body may have a million words. */
function eachWord(text: string, visit: (word: string, at: number, end: number) => void): void {
  WORD.lastIndex = 0
  for (let match = WORD.exec(text); match !== null; match = WORD.exec(text)) {
    visit(plain(match[0]), match.index, WORD.lastIndex)
  }
}

const HYPHENS = '\\-\u2010\u2011\u2012\u2013\u2212'
const SINGLE = "'\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u00b4`"
const LETTER = '[\\p{L}\\p{M}\\p{N}\\p{Cf}_]'
/**
 * A number with its sign, currency and percent; a run of letters joined by single marks; dashes; any other character.
 * No two neighbours of the pattern share a character, so it is linear. The first branch only makes plain words fast.
 */
const WORD = new RegExp(
  `[A-Za-z]+(?=\\s)|(?:[${HYPHENS}+±]?\\p{Sc}?(?=\\p{N}))?${LETTER}+(?:[${HYPHENS}${SINGLE}.,:/@&]${LETTER}+)*[%‰\\p{Sc}]?|[${HYPHENS}\u2014\u2015]+|\`\`|(?<!')''(?!')|[^\\s]`,
  'gu',
)

const DASH_RUN = new RegExp(`^[${HYPHENS}\u2014\u2015]+$`, 'u')
const EVERY_HYPHEN = new RegExp(`[${HYPHENS}]`, 'gu')
const EVERY_SINGLE = new RegExp(`[${SINGLE}]`, 'gu')
const EVERY_DOUBLE = /[\u201c-\u201f\u00ab\u00bb\u2033\u301d-\u301f\uff02]/gu

function plain(word: string): string {
  if (ASCII_WORD.test(word)) return word
  if (DASH_RUN.test(word)) return '-'
  // Two single marks are how a double one is typed.
  if (word === '``' || word === "''") return '"'
  return word.replace(EVERY_HYPHEN, '-').replace(EVERY_SINGLE, "'").replace(EVERY_DOUBLE, '"')
}

/** Most words, and nothing to replace in them. */
const ASCII_WORD = /^[A-Za-z0-9]+$/
