import { SCRIPT_PROFILES, WORD_PROFILES } from './language-profiles.ts'
import { wordsOf } from './words.ts'

/** Words read; more say no more. */
const MAX_WORDS = 5_000
/** Words (or letters of a script that tells) below which nothing is decided. */
const MIN_WORDS = 8
const MIN_LETTERS = 20
/** Share of function words a text of a language has at least; fluent prose has 0.3 to 0.5. */
const MIN_SHARE = 0.12
/** How much better the best language must be than the second. */
const MIN_LEAD = 1.25

/** Every language that can be decided. */
export const LANGUAGES: readonly string[] = [
  ...Object.keys(WORD_PROFILES),
  ...SCRIPT_PROFILES.map(({ language }) => language),
]

/**
 * The language of a text by its writing and, where several share one (Latin, Cyrillic), by the share of each language's
 * function words. Deterministic; undefined = not decided: too short, too mixed, or another language.
 */
export function detectLanguage(text: string): string | undefined {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const byScript = scriptOf(text, letters)
  if (byScript !== undefined) return byScript
  const words = wordsOf(text)
    .slice(0, MAX_WORDS)
    .map((word) => word.toLowerCase())
  if (words.length < MIN_WORDS) return undefined
  const shares = Object.entries(WORD_PROFILES)
    .map(([language, known]) => ({ language, share: words.filter((word) => known.has(word)).length / words.length }))
    .sort((a, b) => b.share - a.share)
  const [best, second] = shares
  if (best === undefined || best.share < MIN_SHARE || best.share < MIN_LEAD * (second?.share ?? 0)) return undefined
  return best.language
}

/**
 * Whether one sentence, short ones too, has function words of English and no more of another language (one more in a
 * text that is English: `In 2021 a storm` is `in` and `a` of Italian). In such a text it may have none at all (`Acme sued Gamma`), with no letter English does not have.
 */
export function isMostlyEnglish(sentence: string, ofText: string | undefined): boolean {
  const words = wordsOf(sentence.slice(0, 2_000)).map((word) => word.toLowerCase())
  const of = (known: ReadonlySet<string>) => words.filter((word) => known.has(word)).length
  const { en, ...others } = WORD_PROFILES
  const own = en === undefined ? 0 : of(en)
  if (own === 0 && (ofText !== 'en' || words.some((word) => !/^[\p{ASCII}’]*$/u.test(word)))) return false
  const most = own + (ofText === 'en' ? 1 : 0)
  return Object.values(others).every((known) => of(known) <= most)
}

/** Japanese mixes kana with Han letters: a fifth of kana is enough, and Chinese has none. */
function scriptOf(text: string, letters: number): string | undefined {
  const counts = SCRIPT_PROFILES.map(({ language, script }) => ({ language, count: text.match(script)?.length ?? 0 }))
  const han = counts.find(({ language }) => language === 'zh')?.count ?? 0
  const kana = counts.find(({ language }) => language === 'ja')?.count ?? 0
  if (han + kana >= MIN_LETTERS && han + kana > letters * 0.6) return kana * 5 >= han + kana ? 'ja' : onlyHan(kana)
  return counts.find(({ count }) => count >= MIN_LETTERS && count > letters * 0.6)?.language
}

function onlyHan(kana: number): string | undefined {
  return kana === 0 ? 'zh' : undefined
}
