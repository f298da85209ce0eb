/**
 * The words of a text that carry meaning, as they are compared: small letters, accents and possessives taken off, and
 * so are the ends of plurals and verbs. Both sides are cut the same way; it need not be a word.
 */
export function contentTerms(text: string): readonly string[] {
  return plainWords(text)
    .filter((word) => !STOP_WORDS.has(word))
    .map(stem)
}

/** The words of a text whose terms these are, as they stand in it: for people, who do not read stems. */
export function wordsWithTerms(text: string, terms: readonly string[]): readonly string[] {
  const wanted = new Set(terms)
  return [...new Set(plainWords(text).filter((word) => !STOP_WORDS.has(word) && wanted.has(stem(word))))]
}

/** The words in their order, without accents and possessives, in small letters. */
export function plainWords(text: string): readonly string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return (plain.match(WORD) ?? []).map((word) => word.replace(/['’]s?$/, ''))
}

const WORD = /[\p{L}\p{N}]+(?:['’.,](?=[\p{L}\p{N}])[\p{L}\p{N}]+)*/gu

/** Words of questions and grammar: they are in every text and about nothing. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a about all also an and any are as at be been being belong belongs between both but by called can could count currently did do does each ever every exactly find for from get give had has have how i if in into is it its kind kinds lie lies list located many me more most much my name no not number of on or other our people please say should show situated so some speak speaks spoken tell than that the their them then there these they this those to use used using was we were what when where which who whom whose why will with would you your'.split(
    ' ',
  ),
)

/** Ends that come and go, the longest first, each with the letters that must be left before it. */
const SUFFIXES: readonly (readonly [string, number, string])[] = [
  ['ies', 3, 'y'],
  ['sses', 2, 'ss'],
  ['ing', 4, ''],
  ['ed', 4, ''],
  ['s', 3, ''],
]

/** Past tenses that no ending tells, each with its verb. */
const PASTS: ReadonlyMap<string, string> = new Map(
  'ate:eat eaten:eat bit:bite bitten:bite blew:blow blown:blow caught:catch dealt:deal dug:dig drove:drive driven:drive fled:flee forgot:forget forgotten:forget froze:freeze frozen:freeze hid:hide hidden:hide heard:hear kept:keep laid:lay lit:light rode:ride ridden:ride shook:shake shaken:shake slept:sleep spun:spin stood:stand struck:strike swept:sweep swore:swear sworn:swear swam:swim thought:think threw:throw thrown:throw tore:tear torn:tear understood:understand woke:wake wore:wear worn:wear wove:weave woven:weave became:become began:begin begun:begin bought:buy broke:break broken:break brought:bring built:build chose:choose chosen:choose came:come died:die drew:draw drawn:draw fell:fall fallen:fall flew:fly flown:fly fought:fight gave:give given:give grew:grow grown:grow held:hold knew:know known:know led:lead left:leave lent:lend lost:lose made:make married:marry met:meet paid:pay ran:run rose:rise risen:rise sang:sing sung:sing sank:sink sunk:sink sent:send shot:shoot sold:sell spent:spend stole:steal stolen:steal taught:teach took:take taken:take told:tell went:go won:win wrote:write written:write'
    .split(' ')
    .map((pair): [string, string] => {
      const [past = '', verb = ''] = pair.split(':')
      return [past, verb]
    }),
)

function stem(written: string): string {
  const word = PASTS.get(written) ?? written
  if (!/^[a-z]+$/.test(word)) return word
  const short = SHORT_VERB.exec(word)
  if (short !== null) return shortVerb(short[1] ?? '')
  const end = SUFFIXES.find(([ending, left]) => word.endsWith(ending) && word.length - ending.length >= left)
  const cut = end === undefined || word.endsWith('ss') ? word : `${word.slice(0, -end[0].length)}${end[2]}`
  // `banned` is `ban`, `added` is `add`.
  if (DOUBLED.test(word) && cut.length === 4) return cut.slice(0, -1)
  return cut.length > 4 ? cut.replace(/e$/, '') : cut
}

/** `owned`, `sued`, `paging`: of a verb of so few letters no part may be cut that is needed; `need` and `bring` are whole. */
const SHORT_VERB = /^([a-z]?[aeiou][a-z]|[a-z]{1,2}[aiouy]|[aeiouy][a-z]{2})(?:ed|ing)$/

const DOUBLED = /([bdgmnprt])\1(?:ed|ing)$/

/** `own`, `sue`, `page`, `ban`: the verb as it stands where nothing was added. */
function shortVerb(cut: string): string {
  return cut.length === 2 || /^[a-z][aeiou][^aeiouwxy]$/.test(cut) ? `${cut}e` : cut
}

/**
 * What a question asks about its subject: the words before `of` (`the capital of Peru`), else the first ones after the
 * question word (`which languages are ..`), else all of them. Names it may hold are for the caller to take out.
 */
export function askedRelation(topic: string): readonly string[] {
  const before = /((?:[\p{L}\p{N}'’-]{1,40} ){1,2})of /iu.exec(topic)?.[1]
  if (before !== undefined && contentTerms(before).length > 0) return contentTerms(before)
  const after = /\b(?:what|which|whose|how many|how much) ((?:[\p{L}\p{N}'’-]{1,40} ?){1,2})/iu.exec(topic)?.[1]
  return after !== undefined && contentTerms(after).length > 0 ? contentTerms(after) : contentTerms(topic)
}
