import { type Citation, citationsIn } from './citations.ts'

/** One quotation of a text: what stands between the marks, and where it stands with them (UTF-16 units). */
interface Quotation {
  readonly quote: string
  readonly at: number
  readonly end: number
}

/**
 * What stands between a pair of quotation marks of whatever kind, on one line, without marks inside. A single mark between
 * letters is an apostrophe.
 */
export function quotationsIn(text: string): readonly Quotation[] {
  return [...text.matchAll(quotedPattern())].map((match) => {
    const [whole, ...inner] = match
    return { quote: inner.find((part) => part !== undefined) ?? '', at: match.index, end: match.index + whole.length }
  })
}

/** What stands outside of them: a citation inside belongs to whom is quoted. */
export function withoutQuotations(text: string): string {
  return text.replace(quotedPattern(), ' ')
}

/** Who cites in a text: a citation inside a quotation is that of whom is quoted. */
export function citationsOutsideQuotations(text: string): readonly Citation[] {
  return citationsIn(withoutQuotations(text))
}

/**
 * The words of a quotation that is given alone, without what it is set in: marks of any kind around it, Markdown's `>`
 * before its lines. Before a number `>` is a sign, and stays.
 */
export function bareQuotation(text: string): string {
  const lines = text.trim().split('\n')
  const isMarked = lines.every((line) => /^\s{0,20}>(?:\s|$)(?!\s{0,20}[\p{N}\p{Sc}])/u.test(line))
  const plain = isMarked
    ? lines
        .map((line) => line.replace(/^\s{0,20}>/, ''))
        .join('\n')
        .trim()
    : text
  const [whole, another] = quotationsIn(plain)
  const isWhole = another === undefined && whole?.at === 0 && whole.end === plain.length
  return isWhole ? whole.quote : plain
}

/** Pairs of marks. One mark of a pair ends what another pair left open only where it is the same. */
const PAIRS =
  "“” „“ „” ‟” ”” «» »« ‹› ›‹ \"\" ＂＂ 「」 『』 ｢｣ 〝〞 〝〟 〈〉 《》 ❝❞ ❛❜ ⹂⹂ ″″ `` ‘’ ‚‘ ‚’ ’’ ‘‘ '' ＇＇ '’ ‘'".split(
    ' ',
  )
/** Of these one may be an apostrophe: no letter stands before it or behind it. */
const SINGLE = "‘’‚'＇"

/** Marks by the names HTML has for them. */
const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  laquo: '«',
  raquo: '»',
  lsaquo: '‹',
  rsaquo: '›',
  amp: '&',
  nbsp: ' ',
  lt: '<',
  gt: '>',
}

/** The text with marks, blanks and signs where their entities stood, and marks where other ways to write them did. */
export function normalizeMarks(text: string): string {
  return text
    .replace(/``|(?<!')''(?!')|\\"/g, '"')
    .replace(/<(\/?)q>/gi, (_, ends) => (ends === '' ? '“' : '”'))
    .replace(/&([a-z]{2,6});/g, (whole, name) => (Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole))
    .replace(/&#(?:(\d{1,6})|[xX]([0-9a-fA-F]{1,5}));/g, (whole, digits, hex) => {
      const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16)
      return code >= 32 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
    })
}

/** A mark as it may be written: itself, by its name, by its number. */
function written(mark: string): string {
  const code = mark.codePointAt(0) ?? 0
  const names = Object.entries(ENTITIES).flatMap(([name, sign]) => (sign === mark ? [`&${name};`] : []))
  return [mark, ...names, `&#0?${code};`, `&#[xX]0?${hexOf(code)};`].join('|')
}

function hexOf(code: number): string {
  return code.toString(16).replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

/** What stands between two marks has none of them in it, so that every search ends at the next one. */
function pairPattern([open = '', close = '']: readonly string[]): string {
  const [opens, closes] = [written(open), written(close)]
  if (!SINGLE.includes(open)) return `(?:${opens})((?:(?!${opens}|${closes})[^\n])*)(?:${closes})`
  const inner = `(?:(?!${opens}|${closes})[^\n]|(?<=\\p{L})(?:${closes})(?=\\p{L}))*`
  return `(?<![\\p{L}\\p{N}])(?:${opens})(${inner})(?:${closes})(?![\\p{L}\\p{N}])`
}

/** Made when a text is looked at: most commands only load this file. */
let quoted: RegExp | undefined

function quotedPattern(): RegExp {
  quoted ??= new RegExp(PAIRS.map((pair) => pairPattern([...pair])).join('|'), 'gu')
  return quoted
}

/** Whether nothing stands around quotations but what says where they are from: `The report says:`, `and`. */
export function isQuoteLeadIn(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+|[\p{Sm}\p{So}]/gu) ?? []
  return words.length <= MOST_LEAD_WORDS && LEAD.test(words.join(' '))
}

const MOST_LEAD_WORDS = 12
const LEAD = new RegExp(
  [
    '^(?:(?:and )*',
    '(?:(?:according to |as )?(?:the |this |its )?(?:report|source|evidence|text|document|article|entry|record)(?: (?:says?|states?|reads?|notes?))?(?: that)?',
    '|(?:der|die|das|laut|le|la|il|el|o|a|de|het) (?:bericht|quelle|text|rapport|source|texte|rapporto|fonte|testo|informe|fuente|texto|relatório|bron|tekst)(?: (?:sagt|lautet|dit|indique|dice|diz|zegt))?(?: (?:que|dass|che|dat))?',
    ')?(?: and)*)$',
  ].join(''),
  'u',
)
