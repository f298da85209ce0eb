import { contentTerms, plainWords } from '../question/terms.ts'
import { readAskedVerb, saysOfVerb } from './asked-verb.ts'
import type { EvidenceUnit } from './evidence-units.ts'
import { COMPARATIVES, SUPERLATIVES } from './measures.ts'
import { DENYING } from './said-as-fact.ts'
import { isPlacePredicate, predicateTerms, predicateWords, statingEnd } from './thing-set.ts'

/** What kind of thing a question asks for, as far as its words say. */
export type AskedKind = 'who' | 'when' | 'where' | 'count' | 'amount' | 'which' | 'why' | 'how'

export interface QuestionForm {
  readonly kind: AskedKind | undefined
  readonly negated: boolean
  /** It can be answered by yes or no. */
  readonly isYesNo: boolean
  /** Words that ask about a whole set: `other`, `most`, `oldest`. */
  readonly setWords: readonly string[]
  /** It describes what it asks about by another thing that it describes. */
  readonly isNested: boolean
}

const KINDS: readonly (readonly [RegExp, AskedKind])[] = [
  [/\bhow many\b|\bnumber of\b/i, 'count'],
  [/\bhow (?:much|long|tall|high|deep|wide|old|far|large|big|heavy|fast|hot|cold)\b/i, 'amount'],
  [/(?:^|[.,;] )why\b|\bfor what reason\b/i, 'why'],
  [/(?:^|[.,;] )how (?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b/i, 'how'],
  [/(?:^|[.,;] )(?:by |to |from |with |for )?whom?\b|^whose\b/i, 'who'],
  [
    /(?:^|[.,;] )(?:since |until )?when\b|\b(?:in|on) (?:what|which) (?:year|date|day|month|century)\b|\bwhat (?:year|date)\b/i,
    'when',
  ],
  [/(?:^|[.,;] )(?:from )?where\b/i, 'where'],
  [
    /(?:^|[.,;] )(?:in |on |at |to |from |by |of |for |with )?(?:which|what) (?!is\b|are\b|was\b|were\b|do\b|does\b|did\b|has\b|have\b)\p{L}/iu,
    'which',
  ],
]

/** Words that leave something out, besides those that negate. */
export const LEAVES_OUT = /\b(?:except|excluding|besides|apart from|other than)\b/i
const SET_WORDS = /^(?:other|else|most|least|fewest|only|fewer)$/
const YES_NO = /^(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would)\b/i
const NESTED = /[a-z] (?:(?:in|on|of|to|by) )?(?:that|which|whose|who|where|whom) [a-z]/i

export function readQuestionForm(topic: string): QuestionForm {
  const spoken = asSpoken(topic)
  const words = plainWords(spoken)
  return {
    kind: KINDS.find(([shape]) => shape.test(spoken))?.[1],
    negated: words.some((word) => DENYING.has(word)) || LEAVES_OUT.test(spoken),
    isYesNo: YES_NO.test(spoken),
    setWords: words.filter((word) => SET_WORDS.test(word) || SUPERLATIVES.has(word) || COMPARATIVES.has(word)),
    isNested: NESTED.test(spoken.replace(/^\S+ (?:\S+ )?/, '')),
  }
}

/** `doesn't` is `does not`. */
export function asSpoken(topic: string): string {
  return topic
    .trim()
    .replace(/n['’]t\b/g, ' not')
    .replace(/\bcannot\b/gi, 'can not')
}

export const MONTHS = 'january february march april may june july august september october november december'
const WHEN = new RegExp(
  `\\b\\d{3,4}\\b|\\b\\d{1,2}:\\d\\d\\b|\\b(?:${MONTHS.replaceAll(' ', '|')}|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|centuries|midnight|noon|bc|ad|(?:each|every) (?:half )?(?:minute|hour|day|night|morning|evening|week|weekday|weekend|month|year|spring|summer|autumn|winter)|hourly|daily|nightly|weekly|monthly|yearly|in (?:spring|summer|autumn|winter)|\\d{1,2} ?(?:am|pm))\\b`,
  'gi',
)
const NUMBER_WORDS =
  'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen'
const A_NUMBER = new RegExp(`^(?:\\d[\\d,.]*|${NUMBER_WORDS.replaceAll(' ', '|')}|nobody|none|no)$`)
const BEFORE_PLACES =
  'in at on near from to above below along beside between outside inside off under over into of through across towards toward via past'
const STRANDED = /\b(for|by|after|around)\s*\?*\s*$/i

/** Names behind words of place, and behind the one the question ends with: `Where do they leave for?` */
function placesNamed(said: string, topic: string): readonly string[] {
  const [, last = ''] = STRANDED.exec(topic) ?? []
  const before = `${BEFORE_PLACES} ${last.toLowerCase()}`.trim().replaceAll(' ', '|')
  const named = new RegExp(`\\b(?:${before})\\s+(?:the\\s+)?(\\p{Lu}[\\p{L}\\p{M}'’-]+)`, 'gu')
  return [...said.matchAll(named)].map(([, name = '']) => name)
}

/** Whether a unit has what such a question asks for, and the question has not. */
export function isOfKind(unit: EvidenceUnit, kind: AskedKind, topic: string): boolean {
  const asked = new Set(plainWords(topic))
  const said = saidOf(unit)
  if (kind === 'when')
    return [...said.matchAll(WHEN)].some(([found]) => !asked.has(found.toLowerCase()) && found !== 'may')
  if (kind === 'amount') return plainWords(said).some((word) => A_NUMBER.test(word) && !asked.has(word))
  if (kind === 'count') return isCounted(unit, topic)
  if (kind === 'why' || kind === 'how') return isManner(unit, kind)
  return isNaming(unit, kind, topic)
}

function saidOf({ kind, text }: EvidenceUnit): string {
  return kind === 'fact' ? text.split(': ').slice(1).join(': ') || text : text
}

/** Who, which or where: it has a name the question has not. */
function isNaming(unit: EvidenceUnit, kind: AskedKind, topic: string): boolean {
  const asked = new Set(plainWords(topic))
  const said = saidOf(unit)
  if (kind === 'which' && unit.kind === 'sentence') return !isOfAny(said, topic)
  if (kind === 'which' && isOfNoun(unit, topic)) return true
  if (unit.kind === 'fact' && isElsewhere(unit, kind, topic)) return false
  const says = kind === 'who' ? verbSays(unit, topic) : undefined
  if (says !== undefined) return says === 'says'
  if (unit.kind === 'fact') return !said.split(', ').every((object) => AN_AMOUNT.test(object))
  if (kind === 'where')
    return placesNamed(said, topic).some(
      (name) => !asked.has(plainWords(name)[0] ?? '') && !MONTHS.includes(name.toLowerCase()),
    )
  return namesSaid(said).some((name) => !plainWords(name).every((word) => asked.has(word)))
}

/** A place is nobody, whoever did it is no place, and a museum is no city. */
function isElsewhere({ predicate = '', entities }: EvidenceUnit, kind: AskedKind, topic: string): boolean {
  const isPlace = isPlacePredicate(predicate)
  if (kind === 'who') return isPlace
  if (kind === 'where')
    return !isPlace && statingEnd({ predicate }) === 'object' && / by$/.test(predicateWords(predicate).join(' '))
  const [, noun = ''] = /\b(?:which|what) (\p{L}+)/iu.exec(topic) ?? []
  const types = [...entities].flatMap((id) => contentTerms(id.split('.')[4] ?? ''))
  return entities.size > 1 && isPlacePredicate(noun) && !contentTerms(noun).some((term) => types.includes(term))
}

/** A number with its unit, or a date. */
const AN_AMOUNT = /^(?=.*\d)[-\d.,: TZ+]+(?: ?\p{L}{1,4})?$/u

/** Whether a sentence has somebody or something at the end of the verb that is asked for. */
function verbSays({ kind, text }: EvidenceUnit, topic: string) {
  const verb = kind === 'sentence' ? readAskedVerb(asSpoken(topic)) : undefined
  return verb === undefined ? undefined : saysOfVerb(verb, text)
}

/** What states a name or a date says neither why nor how. */
function isManner({ kind, text, predicate = '' }: EvidenceUnit, asked: 'why' | 'how'): boolean {
  if (kind === 'fact') return predicateWords(predicate).some((word) => MANNERS.test(word))
  return asked === 'how' || REASON.test(text)
}

const MANNERS = /^(?:why|how|causes?|reasons?|purpose|motive|manner|method|means|way)$/
const REASON =
  /\b(?:because|since (?!\d)|so that|so as to|in order (?:to|that)|due to|owing to|thanks to|as a result|caused?|causes|reasons?|led to|therefore|out of)\b|, so (?!far\b|that\b)/i

/** `Which area ..` of a fact of that name. */
function isOfNoun({ predicate = '' }: EvidenceUnit, topic: string): boolean {
  const noun = contentTerms(/\b(?:which|what) ((?:[\p{L}'’-]+ ?){1,3})/iu.exec(topic)?.[1] ?? '')
  return predicateTerms(predicate).some((term) => noun.includes(term))
}

/** `Ships must report ..` says of ships at large what it says, and not which ones; `Ships of more than 150 m` does. */
function isOfAny(said: string, topic: string): boolean {
  const [, noun = ''] = /\b(?:which|what) (\p{L}+)/iu.exec(topic) ?? []
  const words = plainWords(said.replace(/^(?:the|all|many|some|several|most|few) /i, ''))
  const isBare = contentTerms(words[0] ?? '').some((term) => contentTerms(noun).includes(term))
  const next = isBare ? (words[1] ?? '') : ''
  const asked = plainWords(topic)
  return next !== '' && asked.includes(next) && namesSaid(said).every((name) => asked.includes(name))
}

/** Names of a sentence: two words in capitals, or one that does not begin it. */
export function namesSaid(text: string): readonly string[] {
  return [
    ...text.matchAll(/\p{Lu}[\p{L}\p{M}'’.-]*(?: (?:(?:of|de|van|von|the|la) )?\p{Lu}[\p{L}\p{M}'’.-]*)*/gu),
  ].flatMap(([name], nth) => {
    const isStart = nth === 0 && text.startsWith(name)
    const words = name.split(' ')
    if (!isStart) return [name]
    const rest = contentTerms(words[0] ?? '').length === 0 ? words.slice(1) : words.length > 1 ? words : []
    return rest.length === 0 ? [] : [rest.join(' ')]
  })
}

/** A number that stands before what is counted, or is stated of it. */
function isCounted({ kind, text, predicate }: EvidenceUnit, topic: string): boolean {
  const noun = contentTerms(/\b(?:how many|number of) ((?:[\p{L}'’-]+ ?){1,3})/iu.exec(topic)?.[1] ?? '')
  const words = plainWords(text)
  if (kind === 'fact') {
    const objects = text.split(': ').slice(1).join(': ').split(', ')
    return (
      noun.some((term) => predicateTerms(predicate ?? '').includes(term)) &&
      (objects.length > 1 || objects.every((one) => A_NUMBER.test(one)))
    )
  }
  const [first] = noun
  const asked = new Set(plainWords(topic))
  return words.some((word, at) => {
    if (!A_NUMBER.test(word) || asked.has(word)) return false
    if (/^(?:nobody|none)$/.test(word)) return true
    return contentTerms(words.slice(at + 1, at + 1 + NEAR).join(' ')).includes(first ?? '')
  })
}

const NEAR = 4
