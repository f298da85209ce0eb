import { splitWords } from './prose.ts'

/** Languages told by their most frequent words; each list is about 40 function words, small letters. */
const WORD_PROFILES: Readonly<Record<string, ReadonlySet<string>>> = profiles({
  en: 'the of and to in is that it was for on are with as his they at be this from have or by one had not but what all were when we there can an your which their said if will each about how up out them then she many some so these would other into has more her two him see could no than been its who now my made over did',
  de: 'der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde sei wenn ich wir ihr kann schon gegen vom',
  fr: 'le de la et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont la avec aux ont mais ou son leur cette nous vous elle être fait comme tout deux même aussi ses ces sans lui était avait très bien peut où donc elles ils je leurs entre après',
  es: 'de la que el en y los se del las un por con no una su para es al lo como más o pero sus le ha me si sin sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está mi porque qué sólo han yo hay vez puede todos así nos ni',
  it: 'di che e la il un a per in una è sono mi ho si lo ma ha le i con del non da al più della nel gli dei alla come anche questo delle dal nella ci era dalla suo sua essere tra loro hanno stato tutti quando molto solo suoi perché anni due già dopo cui degli sul fatto',
  pt: 'de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso ela entre era depois sem mesmo aos ter seus quem nas me esse eles estão você tinha foram',
  nl: 'de het een van en in is dat op te zijn met voor niet aan er om ook als dan maar bij nog uit naar heeft ze door hij wat worden over wordt hebben deze kan was meer geen al werd tot tegen onder zo deze jaar veel zich ik we je haar hun waar omdat moet wel zou kunnen',
  sv: 'och i att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan när man år under också efter eller nu sin där vid mot ska skulle kommer ut får finns vara hade alla andra mycket än här då sedan över bara blir upp även vad få två',
  pl: 'w i na z do nie się to że jest o a jak po co za od przez ale dla czy tego tak już tylko jego może być są było ich był które który która oraz ma bardzo jeszcze przed tym też lub kiedy gdy więc tej ten ta te roku między pod będzie można nad jednak by jej ze',
  ru: 'и в не на что он с по это как а то все она но из у за так от же к бы о его для до был было была мы вы они или если когда уже только ещё еще их быть есть был при во со том этого может который которые также после где чтобы были без нет себя лет',
  uk: 'і в не на що він з по це як а то все вона але із у за так від же до би про його для був було була ми ви вони або якщо коли вже тільки ще їх бути є при зі та цього може який які також після де щоб були без немає себе років й ці цей',
})

/** Languages whose writing says enough: a run of such letters decides (Japanese by its kana, so before Chinese). */
const SCRIPT_PROFILES: readonly { readonly language: string; readonly script: RegExp }[] = [
  { language: 'el', script: /\p{Script=Greek}/gu },
  { language: 'ar', script: /\p{Script=Arabic}/gu },
  { language: 'he', script: /\p{Script=Hebrew}/gu },
  { language: 'hi', script: /\p{Script=Devanagari}/gu },
  { language: 'th', script: /\p{Script=Thai}/gu },
  { language: 'ko', script: /\p{Script=Hangul}/gu },
  { language: 'ja', script: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu },
  { language: 'zh', script: /\p{Script=Han}/gu },
]

function profiles(words: Readonly<Record<string, string>>): Readonly<Record<string, ReadonlySet<string>>> {
  return Object.fromEntries(Object.entries(words).map(([language, list]) => [language, new Set(list.split(' '))]))
}

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
  const words = splitWords(text)
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
  const words = splitWords(sentence.slice(0, 2_000)).map((word) => word.toLowerCase())
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
