import type { ShownEvidence } from '../claims/shown-evidence.ts'
import { contentTerms, plainWords } from '../question/terms.ts'
import { inCommonWords } from './common-words.ts'
import { COMPARATIVES, type Measure } from './measures.ts'
import { predicateTerms, predicateWords } from './thing-set.ts'

/** A word somebody put for a relation (`sluice.word_for`). */
export interface RelationName {
  readonly word: string
  readonly predicate: string
}

/** What a question may be said with. */
interface KnownWords {
  readonly predicates: readonly string[]
  readonly things: readonly Pick<ShownEvidence, 'label' | 'aliases'>[]
  readonly words: readonly RelationName[]
}

/**
 * The question in words the graph has for what it asks: labels for aliases, a predicate's own words for those put for it
 * and for its verbs (`Who operates ..` asks for the operator), a length for `how long`.
 */
export function inWordsOfGraph(topic: string, { predicates, things, words }: KnownWords): string {
  const each = [...new Set(predicates)]
  const named = withLabels(topic.trim(), things)
  const put = words.filter(({ predicate }) => each.includes(predicate))
  const asVerb = withVerbs(inCommonWords(named, each), each)
  const asNoun = withNouns(asVerb, verbsOf(each, put))
  return withMeasureNamed(withPredicates(asNoun, put), each)
}

interface Token {
  readonly word: string
  readonly start: number
  readonly end: number
}

const TOKEN = /[\p{L}\p{M}\p{N}]+(?:['’.,](?=[\p{L}\p{N}])[\p{L}\p{M}\p{N}]+)*/gu

function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(TOKEN)].map(({ 0: raw, index }) => {
    return { word: plainWords(raw)[0] ?? '', start: index, end: index + raw.length }
  })
}

/** `the login gate` for what is labelled auth-proxy: where one thing alone is called so, and no longer label stands there. */
function withLabels(text: string, things: KnownWords['things']): string {
  const labels = things.flatMap(({ label = '' }) => [{ name: label, label }])
  const aliases = things.flatMap(({ label = '', aliases = [] }) => aliases.map((name) => ({ name, label })))
  const named = [...labels, ...aliases].map((one) => ({ ...one, words: plainWords(one.name) }))
  const groups = Map.groupBy(named, ({ words }) => words.join(' '))
  const sorted = [...groups].toSorted(([a], [b]) => b.length - a.length)
  let said = text
  const taken: string[] = []
  for (const [phrase, of] of sorted) {
    const [one, ...more] = new Set(of.map(({ label }) => label))
    const isLabel = of.some(({ name, label }) => name === label)
    if (phrase.length < 2 || one === undefined) continue
    const words = phrase.split(' ')
    if (taken.some((other) => ` ${other} `.includes(` ${phrase} `))) continue
    const found = replacedPhrase(said, words, isLabel || more.length > 0 ? undefined : one)
    if (found === undefined) continue
    taken.push(phrase, plainWords(one).join(' '))
    said = found
  }
  return said
}

/** With `by` for each place where the words stand one after the other; undefined: they stand nowhere. */
function replacedPhrase(text: string, words: readonly string[], by: string | undefined): string | undefined {
  const tokens = tokensOf(text)
  const at = tokens.findIndex((_, from) => words.every((word, nth) => tokens[from + nth]?.word === word))
  const [first, last] = [tokens[at], tokens[at + words.length - 1]]
  if (at < 0 || first === undefined || last === undefined) return undefined
  if (by === undefined) return text
  return `${text.slice(0, first.start)}${by}${text.slice(last.end)}`
}

/** Nouns of who does something, without an ending that tells. */
const BASE_NOUNS: ReadonlySet<string> = new Set(
  'lead head mentor host coach captain sponsor author chair guide pilot patron tutor'.split(' '),
)
/** Verbs that their noun does not tell. */
const OTHER_VERBS: Readonly<Record<string, string>> = { author: 'write', architect: 'design' }

/** By the term of each verb the predicate that names who does it: `operate` by `operator`. */
function verbsOf(predicates: readonly string[], put: readonly RelationName[]): ReadonlyMap<string, string> {
  const known = new Set(predicates.flatMap((one) => (nounOf(one) === undefined ? predicateTerms(one) : [])))
  const verbs = predicates.flatMap((predicate) => {
    const noun = nounOf(predicate)
    return noun === undefined ? [] : verbsOfNoun(noun).map((verb) => [verb, noun] as const)
  })
  const told = put.flatMap(({ word, predicate }) => {
    const [verb, ...more] = contentTerms(word)
    const noun = nounOf(predicate)
    return noun === undefined || verb === undefined || more.length > 0 ? [] : [[verb, noun] as const]
  })
  return new Map([...verbs.filter(([verb]) => !known.has(verb)), ...told])
}

/** The word of a predicate that names who does something. */
function nounOf(predicate: string): string | undefined {
  const [word = '', ...more] = predicateWords(predicate)
  const isDoer = BASE_NOUNS.has(word) || Object.hasOwn(OTHER_VERBS, word) || /[a-z]{2}(?:er|or)$/.test(word)
  return more.length === 0 && isDoer ? word : undefined
}

/** Terms of the verbs that a noun of who does something may be of: `discover` of `discoverer`. */
export function verbsOfNoun(noun: string): readonly string[] {
  const cut = noun.replace(/(?:er|or)$/, '')
  const forms = [cut, `${cut}e`, cut.replace(/([bdgmnprt])\1$/, '$1'), cut.replace(/i$/, 'y')]
  return [...(BASE_NOUNS.has(noun) ? [noun] : forms), OTHER_VERBS[noun] ?? ''].flatMap(contentTerms)
}

const ASKS = '(?:did|does|do|has|have|had)'
const IS = '(?:is|are|was|were)'

/** `Which lines does Acme operate?` asks for lines that have the operator Acme. */
function withNouns(topic: string, verbs: ReadonlyMap<string, string>): string {
  const used = tokensOf(topic).flatMap(({ word }) => {
    const noun = verbs.get(contentTerms(word)[0] ?? '')
    return noun === undefined || noun === word
      ? noun === undefined || !BASE_NOUNS.has(word)
        ? []
        : [[word, noun]]
      : [[word, noun]]
  })
  let said = topic.replace(/\s*\?*$/, '')
  for (const [word = '', noun = ''] of used) {
    const shape = SHAPES.find(([of]) => of(word).test(said))
    if (shape === undefined) continue
    const [of, into] = shape
    said = said.replace(of(word), into.replaceAll('NOUN', noun))
    return `${said}?`
  }
  return topic
}

/** `Who is the owner of ..` asks who owned it, where it is stated as `owned by`. */
function withVerbs(topic: string, predicates: readonly string[]): string {
  const [, start = '', noun = '', rest = ''] =
    /^(?:(who|what) (?:is|was|are|were)|(?:is|was|are|were) .{1,100}?) the ([\p{L}-]+) of (.+?)\s*\??$/iu.exec(topic) ??
    []
  const [, subject = ''] = /^(?:is|was|are|were) (.{1,100}?) the [\p{L}-]+ of /iu.exec(topic) ?? []
  if (noun === '' || predicates.some((one) => predicateWords(one).join(' ') === noun.toLowerCase())) return topic
  const terms = new Set([...contentTerms(noun), ...verbsOfNoun(noun.toLowerCase())])
  const verb = predicates.flatMap((one) => {
    const [word = '', by, ...more] = predicateWords(one)
    return by === 'by' && more.length === 0 && contentTerms(word).some((term) => terms.has(term)) ? [word] : []
  })[0]
  if (verb === undefined) return topic
  return start === '' ? `Was ${rest} ${verb} by ${subject}?` : `Who ${verb} ${rest}?`
}

const re = (source: string) => (word: string) => new RegExp(source.replaceAll('VERB', word), 'iu')

/** Shapes a verb may stand in, the first that fits. */
const SHAPES: readonly (readonly [(word: string) => RegExp, string])[] = [
  [re(`^by whom ${IS} (.+) VERB$`), 'Who is the NOUN of $1'],
  [re(`^(?:who|what) ${IS} (.+) VERB by$`), 'Who is the NOUN of $1'],
  [re(`^(who|what) ${IS} VERB by (.+)$`), '$1 has the NOUN $2'],
  [re(`^(?:whom|who|what) ${ASKS} (.+?) VERB(?= |$)(.*)$`), 'What has the NOUN $1$2'],
  [re(`^who (?:has |had |have )?VERB (.+)$`), 'Who is the NOUN of $1'],
  [re(`^((?:which|what|how many) .+?) ${IS} not VERB by (.+)$`), '$1 do not have the NOUN $2'],
  [re(`^((?:which|what|how many|list|name) .+?)(?: that| which)?(?: ${IS})? VERB by (.+)$`), '$1 have the NOUN $2'],
  [re(`^((?:which|what|how many) .+?) ${ASKS} (.+?) not VERB(?= |$)(.*)$`), '$1 do not have the NOUN $2$3'],
  [re(`^((?:which|what|how many) .+?) ${ASKS} (.+?) VERB(?= |$)(.*)$`), '$1 have the NOUN $2$3'],
  [re(`^(?:did|does|do|has|have|had) (.+?) VERB (.+)$`), 'Is $1 the NOUN of $2'],
  [re(`^${IS} (.+?) VERB by (.+)$`), 'Is $2 the NOUN of $1'],
  [re(`^(which|what) (?!${ASKS} |${IS} )(\\S+) VERB (?!by )(.+)$`), '$1 $2 is the NOUN of $3'],
  [re(`(?<=\\S )(?:that|which|who) (?:${IS} )?VERB by (.+)$`), 'that has the NOUN $1'],
  [re(`(?<=\\S )(?:that|which|who) VERB (?!by )(.+)$`), 'that is the NOUN of $1'],
]

/** `What do people pay with in Norway?` asks for the currency. */
function withPredicates(topic: string, put: readonly RelationName[]): string {
  const sorted = put.toSorted((a, b) => b.word.length - a.word.length)
  return sorted.reduce((said, { word, predicate }) => {
    const wanted = contentTerms(word)
    const own = predicateTerms(predicate)
    const tokens = tokensOf(said)
    const length = plainWords(word).length
    const at = tokens.findIndex((_, from) => {
      const some = tokens.slice(from, from + length).map((one) => one.word)
      const terms = contentTerms(some.join(' '))
      return (
        some.length === length && terms.length === wanted.length && terms.every((term, nth) => term === wanted[nth])
      )
    })
    const [first, last] = [tokens[at], tokens[at + length - 1]]
    if (wanted.length === 0 || first === undefined || last === undefined) return said
    if (contentTerms(said).some((term) => own.includes(term))) return said
    return `${said.slice(0, first.start)}${predicateWords(predicate).join(' ')}${said.slice(last.end)}`
  }, topic)
}

/** `How long is ..` asks for a length, `How much does it cost?` for a price, where something states one. */
function withMeasureNamed(topic: string, predicates: readonly string[]): string {
  const [whole, word = ''] =
    /^how (long|tall|high|deep|wide|heavy|large|big|fast|hot|cold) (?:is|are|was|were) /i.exec(topic.trim()) ?? []
  const [done, subject = '', verb = ''] =
    /^(?:how (?:much|long)|what) (?:does|do|did) (.{1,100}?) (cost|last|weigh|take)\??$/i.exec(topic.trim()) ?? []
  const by =
    done === undefined
      ? (MEASURED_BY[word.toLowerCase()]?.by ?? [])
      : contentTerms(VERB_NOUNS[verb.toLowerCase()] ?? '')
  const found = by.flatMap((term) =>
    predicates.flatMap(predicateWords).filter((one) => contentTerms(one).includes(term)),
  )
  const [noun] = found
  if (noun === undefined) return topic
  if (done !== undefined) return `What is the ${noun} of ${subject}?`
  return whole === undefined ? topic : `What is the ${noun} of ${topic.trim().slice(whole.length)}`
}

/** What a verb measures by. */
export const VERB_NOUNS: Readonly<Record<string, string>> = {
  cost: 'price cost',
  last: 'duration length',
  take: 'duration',
  weigh: 'weight mass',
}

const MEASURED_BY: Readonly<Record<string, Measure | undefined>> = Object.fromEntries(
  'long:longer tall:taller high:higher deep:deeper wide:wider heavy:heavier large:larger big:bigger fast:faster hot:hotter cold:colder'
    .split(' ')
    .map((pair) => {
      const [word = '', comparative = ''] = pair.split(':')
      return [word, COMPARATIVES.get(comparative)]
    }),
)
