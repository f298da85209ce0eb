import { stem } from './porter-stem.ts'

/** A word of a text: its stem, and where it stands (UTF-16 units). */
export interface SearchWord {
  readonly stem: string
  readonly start: number
  readonly end: number
}

/** The words of a text as the index has them: runs of letters and digits, without case and accents, stemmed. */
export function searchWords(text: string): readonly SearchWord[] {
  const words: SearchWord[] = []
  WORD.lastIndex = 0
  for (let match = WORD.exec(text); match !== null; match = WORD.exec(text)) {
    words.push({ stem: stemOf(match[0]), start: match.index, end: WORD.lastIndex })
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
