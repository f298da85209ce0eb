import { contentTerms, plainWords } from '../question/terms.ts'

/** A question about who did what to whom, by its grammar: `Who warned the mayor?`, `Whom did the council warn?` */
export interface AskedVerb {
  /** Term of what is done. */
  readonly verb: string
  /** What the question names at the other end, without its article. */
  readonly named: readonly string[]
  /** The end it asks for: who does it, or whom it is done to. */
  readonly asks: 'doer' | 'done_to'
}

const HELPS = '(?:does|do|did|has|have|had|will|would|can|could|may|might|should|must)'
const IS = '(?:is|are|was|were)'
const AUXILIARY = new RegExp(`^(?:${HELPS}|${IS}|be|been|being)$`)
const ENDS_PHRASE =
  /^(?:in|at|on|for|to|from|with|about|over|under|after|before|since|until|during|into|through|across|as|by|because|when|while|and|or|but|if|of|near|between|against|without|within|out|up|down|off)$/

/** undefined: a question of another form. */
export function readAskedVerb(spoken: string): AskedVerb | undefined {
  const text = ` ${plainWords(spoken).join(' ')} `
  const [, passive] = new RegExp(`^ (?:who|whom|what) ${IS} (\\S+ed|\\S+en|\\S+t|\\S+n|\\S+d) by `).exec(text) ?? []
  if (passive !== undefined) return asked(passive, text.split(' by ').slice(1).join(' by '), 'done_to')
  const [, byWhom] = new RegExp(`^ by (?:whom|who|what) ${IS} (.+) $`).exec(text) ?? []
  const [, wasBy] = new RegExp(`^ (?:who|whom|what) ${IS} (.+) by $`).exec(text) ?? []
  const done = byWhom ?? wasBy
  if (done !== undefined) return withLastVerb(done, 'doer')
  const [, did] = /^ (?:(?:whom?|what) (?:did|does|do)|(?:whom|what) (?:has|have|had)) (.+) $/.exec(text) ?? []
  if (did !== undefined) return withLastVerb(did, 'done_to')
  const [, rest = ''] = new RegExp(`^ (?:who|what) (?:${HELPS} )?(.+) $`).exec(text) ?? []
  const [verb = '', ...object] = rest.split(' ')
  if (AUXILIARY.test(verb) || ENDS_PHRASE.test(verb)) return undefined
  return asked(verb, object.join(' '), 'doer')
}

/** `the council warn about the bills`: the verb is the last word before the first that says where, when or whereof. */
function withLastVerb(words: string, asks: AskedVerb['asks']): AskedVerb | undefined {
  const phrase = firstPhrase(words)
  return phrase.length < 2 ? undefined : asked(phrase.at(-1) ?? '', phrase.slice(0, -1).join(' '), asks)
}

function firstPhrase(words: string): readonly string[] {
  const all = words.trim().split(' ')
  const end = all.findIndex((word, at) => at > 0 && ENDS_PHRASE.test(word))
  return end < 0 ? all : all.slice(0, end)
}

function asked(verb: string, words: string, asks: AskedVerb['asks']): AskedVerb | undefined {
  const [term] = contentTerms(verb)
  const named = contentTerms(firstPhrase(words).join(' '))
  return term === undefined || named.length === 0 || named.length > MOST_WORDS ? undefined : { verb: term, named, asks }
}

/** Words of a name or a thing. */
const MOST_WORDS = 6

/**
 * What a sentence says to it. `says`: with somebody or something at the end that is asked for; `silent`: it is not said
 * there; `turned`: the other way round. undefined: it does not say this of what the question names, as far as its words tell.
 */
export function saysOfVerb(
  { verb, named, asks }: AskedVerb,
  sentence: string,
): 'says' | 'silent' | 'turned' | undefined {
  const ends = endsOfVerb(verb, sentence)
  if (ends === undefined) return undefined
  const [known, wanted] = asks === 'doer' ? [ends.done_to, ends.doer] : [ends.doer, ends.done_to]
  const has = (words: readonly string[]) => {
    const terms = new Set(contentTerms(words.join(' ')))
    return named.every((term) => terms.has(term))
  }
  if (has(wanted) && !has(known)) return 'turned'
  // `He brought ..` says nobody's name, whatever was brought; what is done by coal is done by nobody.
  if (asks === 'doer' && (isPronoun(wanted) || isMeans(wanted, sentence))) return 'silent'
  if (!has(known)) return undefined
  const said = wanted.filter((word) => contentTerms(word).length > 0 || NUMBERS.test(word))
  return said.length === 0 || said.every((word) => PRONOUN.test(word)) ? 'silent' : 'says'
}

/** Who does it and whom it is done to, in the first clause that has the verb. */
function endsOfVerb(verb: string, sentence: string) {
  const clauses = sentence.split(
    /[,;:()–—]|\b(?:and|but|while|because|so|that|which|who|after|before|when|although)\b/iu,
  )
  const said = clauses.find((one) => plainWords(one).some((word) => isVerb(word, verb)))
  if (said === undefined) return undefined
  const clause = plainWords(said)
  const at = verbPlace(clause, verb)
  const isPassive =
    clause.slice(Math.max(0, at - 3), at).some((word) => BE.test(word)) && !/ing$/.test(clause[at] ?? '')
  const by = clause.indexOf('by', at)
  const ahead = clause.slice(0, at).filter((word) => !AUXILIARY.test(word))
  const behind = phraseBehind(clause.slice(at + 1))
  const agent = by < 0 ? [] : phraseBehind(clause.slice(by + 1))
  return isPassive ? { doer: agent, done_to: ahead } : { doer: ahead, done_to: behind }
}

/** Who does it in a sentence, and whether by a name; undefined: it does not say it. */
export function doerOfVerb(
  verb: string,
  sentence: string,
): { readonly words: readonly string[]; readonly isNamed: boolean } | undefined {
  const { doer = [] } = endsOfVerb(verb, sentence) ?? {}
  const words = doer.filter((word) => !PRONOUN.test(word))
  if (words.length === 0) return undefined
  const inside = sentence.slice(1)
  const isNamed = words.some((word) => inside.includes(`${word.charAt(0).toUpperCase()}${word.slice(1)}`))
  return { words, isNamed }
}

/** Whether who does it is a pronoun and no more. */
export function isDoneByPronoun(verb: string, sentence: string): boolean {
  return isPronoun(endsOfVerb(verb, sentence)?.doer ?? [])
}

function isPronoun(words: readonly string[]): boolean {
  return words.length > 0 && words.every((word) => PRONOUN.test(word))
}

/** One word in small letters, not in the plural and of no people: `by coal`, `by hand`. */
function isMeans([word = '', ...more]: readonly string[], sentence: string): boolean {
  const isAlone = more.length === 0 || BEHIND_MEANS.test(more[0] ?? '')
  if (word === '' || !isAlone || /[^aius]s$/.test(word) || PEOPLE.test(word)) return false
  return new RegExp(`\\bby ${word}\\b`, 'u').test(sentence)
}

const BEHIND_MEANS = /^(?:each|every|once|twice|daily|weekly|monthly|yearly|only|alone|again|now|today)$/
const PEOPLE = /^(?:people|men|women|children|police|staff|crew|nobody|everybody|everyone|somebody|someone)$/

/** The last place of the verb: `the leading engineer led the team`. */
function verbPlace(clause: readonly string[], verb: string): number {
  const places = clause.flatMap((word, at) => (isVerb(word, verb) ? [at] : []))
  return places.find((at) => /ed$/.test(clause[at] ?? '')) ?? places.at(-1) ?? -1
}

function isVerb(word: string, verb: string): boolean {
  return contentTerms(word).includes(verb)
}

function phraseBehind(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word, at) => ENDS_PHRASE.test(word) && (at > 0 || word !== 'by'))
  return end < 0 ? words : words.slice(0, end)
}

const BE = /^(?:is|are|was|were|be|been|being)$/
const PRONOUN = /^(?:it|they|them|he|she|him|her|this|that|these|those|who|one|others?)$/
const NUMBERS = /^(?:two|three|four|five|six|seven|eight|nine|ten|nobody|everybody|everyone)$/
