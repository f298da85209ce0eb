/** A word of a text: its stem, and where it stands (UTF-16 units). */
interface SearchWord {
  readonly stem: string
  readonly start: number
  readonly end: number
}

/** The words of a text as the index has them: runs of letters and digits, without case and accents, stemmed. */
export function searchWords(text: string): readonly SearchWord[] {
  return textWords(text).map(({ word, start, end }) => ({ stem: stemOf(word), start, end }))
}

/** The words of a text as they are written: runs of letters and digits. */
export function textWords(
  text: string,
): readonly { readonly word: string; readonly start: number; readonly end: number }[] {
  const words: { readonly word: string; readonly start: number; readonly end: number }[] = []
  WORD.lastIndex = 0
  for (let match = WORD.exec(text); match !== null; match = WORD.exec(text)) {
    words.push({ word: match[0], start: match.index, end: WORD.lastIndex })
  }
  return words
}

/** A word without case, and Latin letters without accents, as the index's tokenizer folds it. */
export function plainWord(word: string): string {
  const small = word.toLowerCase()
  if (ASCII.test(small)) return small
  const plain = small.replace(LATIN, (letter) => letter.normalize('NFD')).replace(ACCENTS, '')
  // A sigma at the end of a word is another character.
  return plain.replaceAll('ς', 'σ')
}

/** Whether a word says nothing of what is looked for. */
export function isStopWord(plain: string): boolean {
  return STOP_WORDS.has(plain)
}

/** The marks SQLite's unicode61 drops within a word; every other one ends it. */
const ACCENT = '\\u0300-\\u0304\\u0306-\\u030c\\u030f\\u0311\\u031b\\u0323-\\u0328\\u032d\\u032e\\u0330\\u0331'
const ACCENTS = new RegExp(`[${ACCENT}]+`, 'g')
const WORD = new RegExp(`[\\p{L}\\p{N}\\p{Co}][\\p{L}\\p{N}\\p{Co}${ACCENT}]*`, 'gu')
const LATIN = /\p{Script=Latin}/gu
const ASCII = /^[a-z0-9]*$/

/** What skimming does not know: all but ASCII, dashes, quotation marks and dots, and the blank that breaks no line. */
function isOther(code: number): boolean {
  return code >= 128 && !(code >= 0x2010 && code <= 0x2027) && !KNOWN.includes(code)
}

const KNOWN: readonly number[] = [0xa0, 0xab, 0xb7, 0xbb]
/** 1: a letter or digit, by code below 128. */
const IN_WORD = Uint8Array.from({ length: 128 }, (_, code) => (/[a-z0-9]/i.test(String.fromCharCode(code)) ? 1 : 0))

/** A wanted word of a text. */
interface MetWord extends SearchWord {
  /** Words before it. */
  readonly at: number
}

/** Words of a text in all, and those that are wanted. */
export interface Skimmed {
  readonly count: number
  readonly met: readonly MetWord[]
}

/**
 * Reads a text for the words whose stems are wanted, as searchWords() has them: in a fraction of the time, since a stem begins
 * as its word does. A text with letters of other alphabets, or accents, is read whole.
 */
export function wordSkimmer(wanted: ReadonlySet<string>): (text: string) => Skimmed {
  const begins = beginnings(wanted)
  return (text) => {
    const plain = plainWords(text, begins, wanted)
    if (plain !== undefined) return plain
    const words = searchWords(text)
    return {
      count: words.length,
      met: words.map((word, at) => ({ ...word, at })).filter(({ stem }) => wanted.has(stem)),
    }
  }
}

/** undefined: the text has other letters. */
function plainWords(text: string, begins: Beginnings, wanted: ReadonlySet<string>): Skimmed | undefined {
  const met: MetWord[] = []
  let count = 0
  for (let start = 0; start < text.length; start += 1) {
    const end = wordEnd(text, start)
    if (end === start) {
      if (isOther(text.charCodeAt(start))) return undefined
      continue
    }
    if (mayBeWanted(text, start, end, begins)) {
      const stem = stemOf(text.slice(start, end))
      if (wanted.has(stem)) met.push({ stem, start, end, at: count })
    }
    count += 1
    start = end - 1
  }
  return { count, met }
}

function wordEnd(text: string, start: number): number {
  let end = start
  // Behind the end there is no code: to look it up in the table would make all of this several times slower.
  while (end < text.length && IN_WORD[text.charCodeAt(end)] === 1) end += 1
  return end
}

function mayBeWanted(text: string, start: number, end: number, { firsts, thirds }: Beginnings): boolean {
  const second = end - start > 1 ? text.charCodeAt(start + 1) : 0
  if (firsts[text.charCodeAt(start) * 128 + second] !== 1) return false
  const third = end - start > 2 ? text.charCodeAt(start + 2) : 0
  return thirds[second * 128 + third] === 1
}

/** How words begin that may be wanted: 1 at the code of a letter times 128 and that of the next one. */
interface Beginnings {
  /** Of the first letter and the second. */
  readonly firsts: Uint8Array
  /** Of the second and the third. */
  readonly thirds: Uint8Array
}

/**
 * How words begin that may have one of these stems, in small letters and large ones. Stemming leaves the first letter as it is,
 * and makes an i of a y at the end; a stem of one letter may be of a longer word. It puts an e for an ending no sooner than in
 * the third place, and such a stem ends there.
 */
function beginnings(wanted: ReadonlySet<string>): Beginnings {
  const stems = [...wanted]
  return {
    firsts: pairsOf(stems, (stem) => [codesOf(stem.charAt(0)), stem.length === 1 ? EVERY : lettersAt(stem, 1)]),
    thirds: pairsOf(stems, (stem) => [
      stem.length === 1 ? EVERY : lettersAt(stem, 1),
      stem.length < 4 ? EVERY : lettersAt(stem, 2),
    ]),
  }
}

type Codes = readonly number[]

function pairsOf(stems: readonly string[], pairOf: (stem: string) => readonly [Codes, Codes]): Uint8Array {
  const pairs = new Uint8Array(128 * 128)
  for (const stem of stems) {
    const [before, after] = pairOf(stem)
    for (const one of before) for (const next of after) pairs[one * 128 + next] = 1
  }
  return pairs
}

function lettersAt(stem: string, at: number): readonly number[] {
  return codesOf(stem.charAt(at) === 'i' ? 'iy' : stem.charAt(at))
}

const EVERY: readonly number[] = Array.from({ length: 128 }, (_, code) => code)

/** Of letters in both cases, as far as they are ASCII. */
function codesOf(letters: string): readonly number[] {
  return [...letters.toLowerCase(), ...letters.toUpperCase()]
    .map((one) => one.charCodeAt(0))
    .filter((code) => code < 128)
}

/** Stems of the words met last: texts repeat few words, and stemming is the dearest part of reading one. */
const stems = new Map<string, string>()
const MOST_STEMS = 50_000

function stemOf(word: string): string {
  const known = stems.get(word)
  if (known !== undefined) return known
  if (stems.size >= MOST_STEMS) stems.clear()
  const made = stem(plainWord(word))
  stems.set(word, made)
  return made
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are as at be because been before being below between both but
  by can cannot could did do does doing down during each either else ever every few for from further get give given gives
  had has have having he hence her here hers him his how however i if in into is it its itself just let like made make
  many may me might more most much must my no nor not now of off on once one only or other our out over own per please
  rather s same shall she should show since so some such t tell than that the their theirs them then there therefore
  these they this those through thus to too under until up upon us use used using very via was we were what when where
  whether which while who whom whose why will with within without would yet you your yours`.split(/\s+/),
)

/**
 * The stem of an English word in small letters: M.F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980,
 * as SQLite's porter tokenizer has it. What is no vowel a e i o u is a consonant, also digits and
 * other letters; words under 3 and over 64 bytes stay.
 */
function stem(word: string): string {
  const bytes = Buffer.byteLength(word)
  if (bytes < 3 || bytes > 64) return word
  let stemmed = plural(word)
  stemmed = pastOrGerund(stemmed)
  stemmed = stemmed.endsWith('y') && VOWEL.test(vowelled(stemmed.slice(0, -1))) ? `${stemmed.slice(0, -1)}i` : stemmed
  stemmed = replaceSuffix(stemmed, DOUBLE_SUFFIXES, 1)
  stemmed = replaceSuffix(stemmed, SINGLE_SUFFIXES, 1)
  stemmed = residual(stemmed)
  return finalE(stemmed)
}

function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function pastOrGerund(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const ending = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0
  const base = word.slice(0, word.length - ending)
  if (ending === 0 || !VOWEL.test(vowelled(base))) return word
  if (/(at|bl|iz)$/.test(base)) return `${base}e`
  if (/([^aeiouylsz])\1$/.test(base)) return base.slice(0, -1)
  return measure(base) === 1 && endsShort(base) ? `${base}e` : base
}

type Rules = readonly (readonly [ending: string, replaced: string])[]

/** The first ending that fits decides, whether or not enough is left before it. */
function replaceSuffix(word: string, rules: Rules, least: number): string {
  const rule = rules.find(([ending]) => word.endsWith(ending))
  if (rule === undefined) return word
  const base = word.slice(0, -rule[0].length)
  return measure(base) >= least ? base + rule[1] : word
}

const readRules = (text: string): Rules => text.split(' ').map((pair) => pair.split('>') as [string, string])

const DOUBLE_SUFFIXES = readRules(
  'ational>ate tional>tion enci>ence anci>ance izer>ize logi>log bli>ble alli>al entli>ent eli>e ousli>ous ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble',
)
const SINGLE_SUFFIXES = readRules('icate>ic ative> alize>al iciti>ic ical>ic ful> ness>')
const LAST_SUFFIXES = readRules(
  'al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ou> ism> ate> iti> ous> ive> ize>',
)

function residual(word: string): string {
  const base = word.slice(0, -3)
  if (word.endsWith('ion')) return /[st]$/.test(base) && measure(base) > 1 ? base : word
  return replaceSuffix(word, LAST_SUFFIXES, 2)
}

function finalE(word: string): string {
  if (word.endsWith('ll')) return measure(word) > 1 ? word.slice(0, -1) : word
  if (!word.endsWith('e')) return word
  const base = word.slice(0, -1)
  const kept = measure(base) === 1 && endsShort(base)
  return measure(base) > 1 || (measure(base) === 1 && !kept) ? base : word
}

const VOWEL = /v/

/** Each byte as `v` (vowel; y after a consonant) or `c`: SQLite goes by bytes. */
function vowelled(word: string): string {
  let kinds = ''
  for (const letter of word) {
    const vowel = 'aeiou'.includes(letter) || (letter === 'y' && kinds.endsWith('c'))
    kinds += vowel ? 'v' : 'c'.repeat(letter <= '\x7f' ? 1 : Buffer.byteLength(letter))
  }
  return kinds
}

/** How often vowels are followed by consonants: m in the paper. */
function measure(word: string): number {
  return vowelled(word).match(/v+c+/g)?.length ?? 0
}

/** consonant, vowel, consonant that is not w, x or y. */
function endsShort(word: string): boolean {
  return vowelled(word).endsWith('cvc') && !/[wxy]$/.test(word)
}
