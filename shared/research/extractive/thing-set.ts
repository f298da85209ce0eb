import { factText, type ShownEvidence } from '../claims/shown-evidence.ts'
import { contentTerms, plainWords } from '../question/terms.ts'
import { isUnit } from './measures.ts'

/** A thing as the graph has it. */
export type KnownThing = ShownEvidence & {
  /** Its own word for what it is, else that of its id. */
  readonly type?: string | undefined
}

/** The things of one type, for what is asked of all of them. */
export interface ThingSet {
  readonly type: string
  /** Words of the question that name the type. */
  readonly word: string
  readonly members: readonly KnownThing[]
  /** No thing of the type is missing; else members are those around `around`. */
  readonly closed: boolean
  /** Ids of named things whose neighbours of the type are all there. */
  readonly around: readonly string[]
  /** Things the question names. */
  readonly named: readonly KnownThing[]
  /** Things the members lead to, of the other types the question has a word for. */
  readonly linked?: readonly KnownThing[] | undefined
}

/** Things of one type that are read at the most. */
export const MOST_THINGS = 1_000

export function typeOfThing({ entity_id, type }: KnownThing): string {
  return type ?? entity_id.split('.')[4] ?? ''
}

/** A predicate's last segment in words. */
export function predicateWords(predicate: string): readonly string[] {
  return plainWords((predicate.split('.').at(-1) ?? predicate).replace(/[_-]+/g, ' '))
}

/** Its terms, without a unit at its end. */
export function predicateTerms(predicate: string): readonly string[] {
  const words = predicateWords(predicate)
  const last = words.at(-1) ?? ''
  return contentTerms((words.length > 1 && isUnit(last) ? words.slice(0, -1) : words).join(' '))
}

export function predicateUnit(predicate: string): string {
  const words = predicateWords(predicate)
  const last = words.at(-1) ?? ''
  return words.length > 1 && isUnit(last) ? last : ''
}

export function predicateText(predicate: string): string {
  return factText('', predicate, []).replace(/^, |: $/g, '')
}

/** Which end of a relation a thing stands at: `Oslo` is the object of `Norway, capital: Oslo` and of `Oslo, capital of: Norway`. */
export type RelationEnd = 'subject' | 'object'

/** `discovered by` and `capital of` say the relation from its other end. */
function isTurned(predicate: string): boolean {
  const words = predicateWords(predicate)
  return words.length > 1 && /^(?:by|of)$/.test(words.at(-1) ?? '')
}

/** The end of the relation the thing that states a fact stands at. */
export function statingEnd({ predicate = '' }: { readonly predicate?: string | undefined }): RelationEnd {
  return isTurned(predicate) ? 'object' : 'subject'
}

/** Relations that hold from both ends. */
const BOTH_ENDS: ReadonlySet<string> = new Set(
  contentTerms(
    'border borders bordering neighbour neighbor neighbours adjacent spouse married sibling twin connected connects linked adjoins',
  ),
)

export function holdsBothWays(terms: readonly string[]): boolean {
  return terms.some((term) => BOTH_ENDS.has(term))
}

/** Predicates of where something is: `airports in Norway`. */
const PLACES: ReadonlySet<string> = new Set(
  contentTerms(
    'region subregion continent location located headquarters country city town state province county district island zone area place part site within',
  ),
)

export function isPlacePredicate(predicate: string): boolean {
  // `located in` is of words that a question's terms leave out.
  return IS_AT.test(predicateWords(predicate).join(' ')) || predicateTerms(predicate).some((term) => PLACES.has(term))
}

const IS_AT = /^(?:is |lies |stands |located |situated |based |housed |kept )+(?:in|at|on)$/

/** `countries`, `boxes`, `people`. */
export function pluralOf(type: string): string {
  const plain = type.replace(/[_-]+/g, ' ')
  if (plain === 'person') return 'people'
  if (/(?:s|x|z|ch|sh)$/.test(plain)) return `${plain}es`
  if (/[^aeiou]y$/.test(plain)) return `${plain.slice(0, -1)}ies`
  return `${plain}s`
}

/** What a word of a question may be the type of: itself, and what it is the plural of. */
export function singularsOf(word: string): readonly string[] {
  if (word === 'people') return ['person', 'people']
  const cut = [
    ...(word.endsWith('ies') ? [`${word.slice(0, -3)}y`] : []),
    ...(/(?:s|x|z|ch|sh)es$/.test(word) ? [word.slice(0, -2)] : []),
    ...(/[^s]s$/.test(word) ? [word.slice(0, -1)] : []),
  ]
  return [...cut, word]
}
