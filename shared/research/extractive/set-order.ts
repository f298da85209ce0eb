import { contentTerms } from '../question/terms.ts'
import { VERB_NOUNS } from './asked-words.ts'
import {
  amountMeasure,
  isDatePredicate,
  type Measure,
  type MeasuredValue,
  readMeasured,
  SUPERLATIVES,
  unitOf,
} from './measures.ts'
import { type KnownThing, predicateTerms, predicateUnit, type ThingSet } from './thing-set.ts'

/** Which of a set come first: by the one number or date of a predicate. */
export interface SetOrder {
  readonly predicate: string
  readonly end: Measure['end']
  /** How many of the first are asked for. */
  readonly top: number
}

interface Ordered {
  readonly order: SetOrder
  readonly front: string
  readonly back: string
}

const NUMBERS = 'one two three four five six seven eight nine ten'.split(' ')
const NTH = 'first second third fourth fifth'.split(' ')

/** `the three longest` before the type, `has the highest mass` or `opened last` behind it. */
export function takeOrder(front: string, back: string, set: ThingSet): Ordered | 'unclear' | undefined {
  const words = wordsOf(front)
  const found = findMeasure(words)
  return found === undefined
    ? orderBehind(wordsOf(back), front, set)
    : (orderInFront(words, back, { ...found, set }) ?? 'unclear')
}

function wordsOf(text: string): readonly string[] {
  return text.split(' ').filter((word) => word !== '')
}

interface FoundMeasure {
  readonly measure: Measure
  readonly at: number
  /** Words it takes. */
  readonly used: number
}

const BY_WHAT = / by (?:(?:its|their|the) )?([a-z0-9 ]{1,100}?) $/

function orderInFront(
  words: readonly string[],
  back: string,
  { measure, at, used, set }: FoundMeasure & { readonly set: ThingSet },
): Ordered | undefined {
  const explicit = contentTerms(words.slice(at + used).join(' '))
  const top = readTop(words.slice(0, at))
  const by = BY_WHAT.exec(back)?.[1]
  const verb = measure.dated === true && explicit.length === 0 ? verbOf(back, set) : undefined
  const terms = by === undefined ? (verb?.terms ?? explicit) : contentTerms(by)
  const predicate = orderPredicate(terms, measure, set)
  if (predicate === undefined || top === undefined) return undefined
  const rest = by === undefined ? (verb?.back ?? back) : back.replace(BY_WHAT, ' ')
  return { order: { predicate, end: measure.end, top }, front: ' ', back: rest }
}

function findMeasure(words: readonly string[]): FoundMeasure | undefined {
  const all = words.map((_, at) => measureAt(words, at))
  return all.find((found) => found !== undefined)
}

function measureAt(words: readonly string[], at: number): FoundMeasure | undefined {
  const word = words[at] ?? ''
  const known = SUPERLATIVES.get(word)
  if (known !== undefined) return { measure: known, at, used: 1 }
  const amount = /^(?:most|least|fewest)$/.test(word) ? amountMeasure(word, words[at + 1] ?? '') : undefined
  if (amount !== undefined) return { measure: amount, at, used: amount.by.length > 0 ? 2 : 1 }
  if (at < words.length - 1 || !FIRST_LAST.test(word)) return undefined
  return { measure: { end: word === 'first' ? 'least' : 'most', by: [], dated: true }, at, used: 1 }
}

const FIRST_LAST = /^(?:first|last)$/

/** `three`, `top 5`, `second`; undefined: other words. */
function readTop(words: readonly string[]): number | undefined {
  const said = words.filter((word) => word !== 'top' && word !== 'the' && contentTerms(word).length > 0)
  const [word, ...more] = said
  if (word === undefined) return 1
  const count = /^\d{1,2}$/.test(word) ? Number(word) : NUMBERS.indexOf(word) + 1 || NTH.indexOf(word) + 1
  return more.length === 0 && count > 0 ? count : undefined
}

/** The verb right behind the type: `the first bridge to be opened`, `the oldest bridge built`. */
function verbOf(back: string, set: ThingSet): { readonly terms: readonly string[]; readonly back: string } | undefined {
  const [whole, verb = ''] = /^ (?:(?:to|be|been|that|which|was|were|is|are|has|have) )*([a-z]+) /.exec(back) ?? []
  if (whole === undefined || !isDatePredicate(contentTerms(verb))) return undefined
  const known = set.members.some(({ facts = [] }) =>
    facts.some(({ predicate }) => saysAll(predicate, contentTerms(verb))),
  )
  return known ? { terms: contentTerms(verb), back: ` ${back.slice(whole.length)}` } : undefined
}

function orderBehind(words: readonly string[], front: string, set: ThingSet): Ordered | 'unclear' | undefined {
  const at = words.findIndex((_, place) => isMeasureBehind(words, place))
  if (at < 0) return undefined
  const rest = words.slice(at)
  const found = measureAt(FIRST_LAST.test(rest[0] ?? '') ? rest.slice(0, 1) : rest.slice(0, 2), 0)
  if (found === undefined) return 'unclear'
  const nth = NTH.indexOf(words[at - 1] ?? '') + 1
  const ahead = words.slice(0, nth > 0 ? at - 1 : at)
  const { terms, before, behind } = saidOfMeasure(ahead, rest.slice(found.used), { found, set })
  const predicate = orderPredicate(terms, found.measure, set)
  if (predicate === undefined) return 'unclear'
  const order = { predicate, end: found.measure.end, top: Math.max(1, nth) }
  return { order, front, back: ` ${[...before, ...behind].join(' ')} ` }
}

function isMeasureBehind(words: readonly string[], at: number): boolean {
  const word = words[at] ?? ''
  if (SUPERLATIVES.has(word)) return true
  if (FIRST_LAST.test(word)) return at === words.length - 1 || words[at + 1] === 'to'
  return /^(?:most|least|fewest)$/.test(word) && words[at - 1] !== 'at'
}

/** Terms of the predicate it measures, and what is left around them: `opened last`, `highest mass`, `first to be opened`. */
function saidOfMeasure(
  ahead: readonly string[],
  behind: readonly string[],
  { found, set }: { readonly found: FoundMeasure; readonly set: ThingSet },
) {
  const verb = contentTerms(ahead.at(-1) ?? '')
  if (behind.length === 0 && verb.length > 0 && found.measure.dated === true) {
    return { terms: verb, before: ahead.slice(0, -1), behind: [] }
  }
  if (behind[0] === 'by') return { terms: contentTerms(behind.slice(1).join(' ')), before: ahead, behind: [] }
  if (behind[0] === 'to' && behind[1] === 'be') {
    return { terms: contentTerms(behind[2] ?? ''), before: ahead, behind: behind.slice(3) }
  }
  const length = predicateLength(behind, set)
  return { terms: contentTerms(behind.slice(0, length).join(' ')), before: ahead, behind: behind.slice(length) }
}

/** How many of the words a predicate has, all of them terms of one. */
function predicateLength(words: readonly string[], set: ThingSet): number {
  const predicates = predicatesOf(set)
  for (let length = Math.min(4, words.length); length > 0; length -= 1) {
    const some = words.slice(0, length)
    const terms = contentTerms(some.join(' '))
    if (terms.length > 0 && contentTerms(some.at(-1) ?? '').length > 0 && predicates.some((one) => saysAll(one, terms)))
      return length
  }
  return 0
}

function predicatesOf({ members }: Pick<ThingSet, 'members'>): readonly string[] {
  return [...new Set(members.flatMap(({ facts = [] }) => facts.map(({ predicate }) => predicate)))]
}

export function saysAll(predicate: string, terms: readonly string[]): boolean {
  const own = predicateTerms(predicate)
  return terms.length > 0 && terms.every((term) => own.includes(term))
}

/** The one predicate whose numbers or dates are meant; undefined: none, or nobody can say which. */
export function orderPredicate(terms: readonly string[], { by, dated }: Measure, set: ThingSet): string | undefined {
  const measured = predicatesOf(set).filter((predicate) =>
    set.members.some((one) => statedValue(one, predicate) !== undefined),
  )
  if (terms.length > 0) return measuredBy(terms, measured)
  if (dated === true)
    return onlyOne(
      measured.filter((one) => {
        const own = predicateTerms(one)
        return !own.includes('per') && own.some((term) => by.includes(term))
      }),
      [],
    )
  for (const term of by) {
    const found = measured.filter((one) => predicateTerms(one).includes(term))
    if (found.length > 0) return onlyOne(found, [term])
  }
  return undefined
}

/** By words of the question, or by the noun of its verb: `cost` by `price`. */
function measuredBy(terms: readonly string[], measured: readonly string[]): string | undefined {
  const own = measured.filter((one) => saysAll(one, terms))
  if (own.length > 0) return onlyOne(own, terms)
  const [only = '', ...more] = terms
  if (more.length > 0 || !Object.hasOwn(VERB_NOUNS, only)) return undefined
  const found = contentTerms(VERB_NOUNS[only] ?? '').map(
    (noun) => [noun, measured.filter((one) => saysAll(one, [noun]))] as const,
  )
  const [noun = '', of = []] = found.find(([, some]) => some.length > 0) ?? []
  return onlyOne(of, [noun])
}

export function onlyOne(predicates: readonly string[], terms: readonly string[]): string | undefined {
  const exact = predicates.filter((one) => predicateTerms(one).length === terms.length)
  return exact.length === 1 ? exact[0] : predicates.length === 1 ? predicates[0] : undefined
}

/** The one number or date a thing states by a predicate. */
export function statedValue({ facts = [] }: KnownThing, predicate: string): MeasuredValue | undefined {
  const objects = facts.filter((fact) => fact.predicate === predicate && fact.object_id === undefined)
  const [only, ...others] = new Set(objects.map(({ object }) => object))
  if (only === undefined || others.length > 0) return undefined
  const value = readMeasured(only, isDatePredicate(predicateTerms(predicate)))
  return value === undefined || value.unit !== '' || value.dated
    ? value
    : { ...value, unit: unitOf(predicateUnit(predicate)) }
}
