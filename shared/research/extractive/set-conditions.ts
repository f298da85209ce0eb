import type { ShownFact } from '../claims/shown-evidence.ts'
import { contentTerms, plainWords } from '../question/terms.ts'
import {
  amountMeasure,
  COMPARATIVES,
  isDatePredicate,
  isUnit,
  type Measure,
  type MeasuredValue,
  readMeasured,
  unitOf,
} from './measures.ts'
import { readLeadingTo } from './set-of-set.ts'
import { onlyOne, orderPredicate, saysAll, statedValue } from './set-order.ts'
import type { Fits, ReadCondition, Reading, SetCondition } from './set-reading.ts'
import {
  holdsBothWays,
  isPlacePredicate,
  type KnownThing,
  predicateTerms,
  predicateUnit,
  type RelationEnd,
  singularsOf,
  statingEnd,
  type ThingSet,
  typeOfThing,
} from './thing-set.ts'

/** Facts of a thing's own. */
function ownProofs(predicates: ReadonlySet<string>): SetCondition['proofs'] {
  return ({ entity_id }) => [...predicates].map((predicate) => ({ entity_id, predicate }))
}

/** Each clause one condition; undefined: one of them is not understood. */
export function readConditions(front: string, back: string, reading: Reading): readonly ReadCondition[] | undefined {
  const leading = readLeadingTo(back, reading, (rest, of) => readConditions(' ', rest, of))
  if (leading !== undefined && contentTerms(front).length === 0) return [leading]
  const joined = back
    .replace(/ (?:based|located|situated|headquartered)(?= (?:in|at|on) )/g, ' ')
    .replace(
      /^( (?:in|of|by|at|from|with|on) [^@]*?| (?:in|of|by|at|from|with|on) (?:the )?@\d+) (?:are|were|is|was|have|had|has)(?= [a-z])/,
      '$1 and',
    )
    .replace(/ with (?=(?:the )?@\d+ $)/, ' ')
    .replace(/ (?:without|with no|having no|that have no|which have no)(?= )/g, ' and not having ')
    .replace(/ (?:do|does|did|are|is|was|were|have|has|had|can|could)(?= (?:not|never) )/g, ' and')
    .replace(/ between (\S+) and (?=\S)/g, ' between $1 & ')
    .replace(/ neither (?:the )?(@\d+) nor (?:the )?(@\d+)(?= )/g, ' not $1 | $2')
    .replace(
      / neither (?:((?:in|by|at|on|from|of) )?(.+?)) nor (?:(?:in|by|at|on|from|of) )?(.+)$/,
      ' not $1$2 and not $1$3',
    )
    .replace(/ both (?=(?:the )?@)/g, ' ')
    .replace(/(@\d+) and (?=(?:the )?@)/g, '$1 & ')
    .replace(/(@\d+) and (?=(?:the )?@)/g, '$1 & ')
    .replace(/(@\d+) or (?=(?:the )?@)/g, '$1 | ')
  const adjective = contentTerms(front).length > 0 ? [front] : []
  const clauses = [...adjective, ...joined.split(/ (?:that|which|who|whose|and|but|with|having)(?= )/)]
  const read = clauses.filter((clause) => contentTerms(clause).length > 0 || clause.includes('@') || NOT.test(clause))
  const conditions = read.map((clause, at) => readClauses(withVerb(` ${clause.trim()} `, read[at - 1] ?? ''), reading))
  return conditions.every((one) => one !== undefined) ? conditions.flat() : undefined
}

/** `border Germany but not France`: a name alone has the verb of the clause before. */
function withVerb(clause: string, before: string): string {
  const [, no = '', phrase, preposition] =
    /^ (not )?(?:also )?((by|in|at|on|from|to|with|of) (?:the )?@\d+ )$/.exec(clause) ?? []
  const until = new RegExp(`^ ?((?:[a-z]+ )+?)${preposition} `).exec(before)?.[1]
  if (phrase !== undefined && until !== undefined) return ` ${no}${until}${phrase}`
  const [, not = '', name] = /^ (not )?(?:the )?(@\d+) $/.exec(clause) ?? []
  const verb = /^ ?((?:[a-z]+ )+?)(?:the )?@\d+ ?$/.exec(before)?.[1]
  return name === undefined || verb === undefined ? clause : ` ${not}${verb}${name} `
}

/** A clause, or two that stand side by side: `border Norway use the euro`, `discovered in 1898 by Ramsay`. */
function readClauses(clause: string, reading: Reading): readonly ReadCondition[] | undefined {
  const whole = readClause(clause, reading)
  if (whole !== undefined) return [whole]
  if ((clause.match(/@/g)?.length ?? 0) > MOST_NAMES) return undefined
  const cuts = [...clause.matchAll(/(?<= )(?:@\d+|\d[\d,.]*)(?= (?![&|] |as ))/g)]
  const read = cuts.map(({ index, 0: end }) => readCut(clause, { from: index, to: index + end.length }, reading))
  return read.find((conditions) => conditions !== undefined)
}

/** Names of one clause. */
const MOST_NAMES = 4

function readCut(
  clause: string,
  { from, to }: { readonly from: number; readonly to: number },
  reading: Reading,
): readonly ReadCondition[] | undefined {
  const [left, right] = [clause.slice(0, to + 1), clause.slice(to)]
  if (contentTerms(right).length === 0 || / [&|] $/.test(clause.slice(0, from))) return undefined
  const verb = PREPOSITION.test(right) ? (BEFORE_PREPOSITION.exec(left)?.[1] ?? '') : ''
  const one = readClause(left, reading)
  const other = one === undefined ? undefined : readClauses(` ${verb}${right.trimStart()}`, reading)
  return one === undefined || other === undefined ? undefined : [one, ...other]
}

const BEFORE_PREPOSITION = /^ ((?:[a-z]+ ){0,8}?)(?=by |in |at |on |from |before |after |since |between )/
const PREPOSITION = /^ (?:by|in|at|on|from|before|after|since|between) /

const NOT = / (?:not|never|no|nor|neither|none|nobody|nothing)(?= )/
const EACH_NOT = new RegExp(NOT.source, 'g')
/** Words that bound a condition in a way nobody here reads. */
const UNREAD =
  / (?:only|exactly|almost|nearly|about|around|usually|often|half|average|mean|total|sum|median|same|or|per|each|than|every|if|unless|former|formerly|ago|still|yet) /

function readClause(clause: string, reading: Reading): ReadCondition | undefined {
  const nots = clause.match(EACH_NOT)?.length ?? 0
  if (nots > 1) return undefined
  const positive = clause.replace(NOT, ' ')
  const condition =
    readSame(positive, reading) ??
    readEither(positive, reading) ??
    readComparison(positive, reading) ??
    (UNREAD.test(positive) ? undefined : (readRelation(positive, reading) ?? readLiteral(positive, reading)))
  if (condition === undefined || nots === 0) return condition
  const { fits } = condition
  const turned: Fits = (thing) => {
    const is = fits(thing)
    return is === undefined ? undefined : !is
  }
  // What they do state is the opposite of what is asked.
  return { fits: turned, proofs: () => [], related: [], selves: condition.related }
}

/** `written in Go or Python`: what stands before the first holds of the second too. */
function readEither(clause: string, reading: Reading): ReadCondition | undefined {
  const [left = '', right, ...more] = clause.split(' or ')
  if (right === undefined || more.length > 0 || / than| either | whether /.test(clause)) return undefined
  const one = readClause(`${left} `, reading)
  if (one === undefined) return undefined
  const words = left.trim().split(' ')
  for (let length = words.length - 1; length >= 0; length -= 1) {
    const other = readClause(` ${[...words.slice(0, length), right.trim()].join(' ')} `, reading)
    if (other === undefined) continue
    return {
      fits: (thing) => {
        const all = [one.fits(thing), other.fits(thing)]
        return all.includes(true) ? true : all.includes(undefined) ? undefined : false
      },
      proofs: (thing) => [...one.proofs(thing), ...other.proofs(thing)],
      related: [],
    }
  }
  return undefined
}

/** `in the same year as radium`, `have the same state as radium` */
function readSame(clause: string, { names, set }: Reading): ReadCondition | undefined {
  const [whole, word = '', at] =
    / (?:in |at |of |on )?(?:the )?same ([a-z ]+?) (?:as|like) (?:the |that of (?:the )?)?@(\d+) /.exec(clause) ?? []
  const [thing, ...others] = names[Number(at)] ?? []
  if (whole === undefined || thing === undefined || others.length > 0) return undefined
  const rest = contentTerms(clause.replace(whole, ' '))
  const isYear = /^(?:year|day|date)$/.test(word)
  const terms = isYear ? rest : [...rest, ...contentTerms(word)]
  const own = (thing.facts ?? []).filter(({ predicate }) => saysAll(predicate, terms))
  const predicate = onlyOne(
    [...new Set(own.map((fact) => fact.predicate))].filter((one) => !isYear || statedValue(thing, one)?.dated),
    terms,
  )
  if (predicate === undefined) return undefined
  const keyOf = (one: KnownThing) => keysOf(one, predicate, isYear ? word : undefined)
  const wanted = keyOf(thing)
  if (wanted.length === 0 || !set.members.some((one) => keyOf(one).length > 0)) return undefined
  const fits: Fits = (one) => {
    const keys = keyOf(one)
    return keys.length === 0 ? undefined : wanted.every((key) => keys.includes(key))
  }
  return { fits, proofs: ownProofs(new Set([predicate])), related: [], selves: [thing.entity_id] }
}

/** What it states, or of a date the year or the day: of one without a day nobody knows it. */
function keysOf(thing: KnownThing, predicate: string, part: string | undefined): readonly string[] {
  if (part === undefined)
    return (thing.facts ?? [])
      .filter((fact) => fact.predicate === predicate)
      .map((fact) => fact.object_id ?? fact.object)
  const { value } = statedValue(thing, predicate) ?? {}
  if (value === undefined) return []
  if (part === 'year') return [`${Math.floor(value / 10_000)}`]
  return value % 100 === 0 ? [] : [`${value}`]
}

const NUMBER = '(-?\\d[\\d,.]*|@\\d+)((?: [a-z°%]+[²³]?\\d?)?)'
const COMPARED: readonly (readonly [RegExp, '<' | '<=' | '>' | '>=' | '='])[] = [
  [new RegExp(` (?:before|prior to|earlier than)(?: the)?(?: year)? ${NUMBER} `), '<'],
  [new RegExp(` (?:after|later than)(?: the)?(?: year)? ${NUMBER} `), '>'],
  [new RegExp(` since(?: the)?(?: year)? ${NUMBER} `), '>='],
  [new RegExp(` (?:over|above|exceeding|greater than) ${NUMBER} `), '>'],
  [new RegExp(` (?:under|below) ${NUMBER} `), '<'],
  [new RegExp(` (?:at least|no less than|no fewer than) ${NUMBER} `), '>='],
  [new RegExp(` (?:at most|no more than) ${NUMBER} `), '<='],
]

/** Numbers and dates against a number, a year or what a named thing states. */
function readComparison(clause: string, reading: Reading): ReadCondition | undefined {
  for (const [shape, sign] of COMPARED) {
    const [whole, bound = '', unit = ''] = shape.exec(clause) ?? []
    if (whole === undefined) continue
    const isUnitOf = isUnit(unit.trim())
    const rest = clause.replace(whole, isUnitOf ? ' ' : `${unit} `)
    return compared(contentTerms(rest), { sign, bound, unit: isUnitOf ? unit.trim() : '' }, reading)
  }
  return readThan(clause, reading) ?? readBetween(clause, reading) ?? readYear(clause, reading)
}

const THAN = new RegExp(
  ` (${[...COMPARATIVES.keys(), 'more', 'less', 'fewer'].join('|')})((?: [a-z]+){0,3}?) than(?: the)? ${NUMBER} `,
)

/** `longer than 2500 m`, `more than 1000 employees`, `older than Norway`, `more employees than Acme` */
function readThan(clause: string, reading: Reading): ReadCondition | undefined {
  const [whole, word = '', middle = '', bound = '', unit = ''] = THAN.exec(clause) ?? []
  if (whole === undefined) return undefined
  const [next = ''] = middle.trim().split(' ')
  const measure = COMPARATIVES.get(word) ?? amountMeasure(word, next)
  if (measure === undefined) return undefined
  const isUnitOf = isUnit(unit.trim())
  const named = measure.by.length > 0 && amountMeasure(word, next) !== undefined ? '' : middle
  const rest = `${clause.replace(whole, isUnitOf ? ' ' : `${unit} `)} ${named}`
  const sign = measure.end === 'most' ? '>' : '<'
  return compared(contentTerms(rest), { sign, bound, unit: isUnitOf ? unit.trim() : '', measure }, reading)
}

function readBetween(clause: string, reading: Reading): ReadCondition | undefined {
  const [whole, from = '', to = '', unit = ''] = new RegExp(` between (\\d[\\d,.]*) & ${NUMBER} `).exec(clause) ?? []
  if (whole === undefined || to.startsWith('@')) return undefined
  const isUnitOf = isUnit(unit.trim())
  const terms = contentTerms(clause.replace(whole, isUnitOf ? ' ' : `${unit} `))
  const one = { unit: isUnitOf ? unit.trim() : '' }
  const low = compared(terms, { ...one, sign: '>=', bound: from }, reading)
  const high = compared(terms, { ...one, sign: '<=', bound: to }, reading)
  return low === undefined || high === undefined
    ? undefined
    : { ...low, fits: (thing) => both(low.fits(thing), high.fits(thing)) }
}

function both(a: boolean | undefined, b: boolean | undefined): boolean | undefined {
  return a === undefined || b === undefined ? undefined : a && b
}

/** `discovered in 1898`, `opened in the 1930s`, `atomic number 88` */
function readYear(clause: string, reading: Reading): ReadCondition | undefined {
  const [decade, from = ''] = / (?:in|during|of|from) the (\d{3}0)s /.exec(clause) ?? []
  if (decade !== undefined) {
    const terms = contentTerms(clause.replace(decade, ' '))
    const low = compared(terms, { sign: '>=', bound: from, unit: '' }, reading)
    const high = compared(terms, { sign: '<', bound: `${Number(from) + 10}`, unit: '' }, reading)
    return low === undefined || high === undefined
      ? undefined
      : { ...low, fits: (thing) => both(low.fits(thing), high.fits(thing)) }
  }
  const [century, nth = ''] = / (?:in|during|of|from) the (\d{1,2})(?:st|nd|rd|th) century /.exec(clause) ?? []
  if (century !== undefined) return inCentury(contentTerms(clause.replace(century, ' ')), Number(nth), reading)
  const [whole, bound = '', unit = ''] =
    / (?:in|during|of|from|on)?(?: the year)? ?(?<!\S)(-?\d[\d,.]*)((?: [a-z°%]+[²³]?\d?)?) /.exec(clause) ?? []
  if (whole === undefined) return undefined
  const isUnitOf = isUnit(unit.trim())
  const rest = contentTerms(clause.replace(whole, isUnitOf ? ' ' : ` ${unit} `))
  return compared(rest, { sign: '=', bound, unit: isUnitOf ? unit.trim() : '' }, reading)
}

/** Whether 1800 is of the 18th century or the 19th people do not agree: then nobody can say. */
function inCentury(terms: readonly string[], nth: number, { set }: Reading): ReadCondition | undefined {
  const predicate = orderPredicate(terms, { end: 'most', by: [] }, set)
  if (predicate === undefined) return undefined
  const fits: Fits = (one) => {
    const value = statedValue(one, predicate)
    const year = value === undefined ? undefined : yearOf(value)
    if (year === undefined || year === nth * 100 || year === nth * 100 - 100) return undefined
    return year > nth * 100 - 100 && year < nth * 100
  }
  return { fits, proofs: ownProofs(new Set([predicate])), related: [] }
}

/** Of a date, or a plain number that may be a year. */
function yearOf({ value, dated, unit }: MeasuredValue): number | undefined {
  if (dated) return Math.floor(value / 10_000)
  return unit === '' && Number.isInteger(value) && value >= 1_000 && value < 2_100 ? value : undefined
}

interface Bound {
  readonly sign: '<' | '<=' | '>' | '>=' | '='
  /** A number, or `@0`. */
  readonly bound: string
  readonly unit: string
  readonly measure?: Measure
}

function compared(
  terms: readonly string[],
  { sign, bound, unit, measure }: Bound,
  { names, set }: Reading,
): ReadCondition | undefined {
  const predicate = orderPredicate(terms, measure ?? { end: 'most', by: [] }, set)
  if (predicate === undefined) return undefined
  const own = unitOf(predicateUnit(predicate))
  const [thing, ...others] = bound.startsWith('@') ? (names[Number(bound.slice(1))] ?? []) : []
  if (others.length > 0 || (bound.startsWith('@') && thing === undefined)) return undefined
  const limit = thing === undefined ? readBound(bound, predicate, set) : statedValue(thing, predicate)
  if (limit === undefined || (unit !== '' && unitOf(unit) !== own)) return undefined
  // A year bounds years: what is of 1770 is not before 1770.
  const isYear = limit.dated && limit.value % 10_000 === 0
  const keyOf = ({ value }: MeasuredValue) => (isYear ? Math.floor(value / 10_000) : value)
  const fits: Fits = (one) => {
    const value = statedValue(one, predicate)
    if (value === undefined || value.dated !== limit.dated) return undefined
    if (value.unit !== limit.unit && thing !== undefined) return undefined
    return holds(keyOf(value), sign, keyOf(limit))
  }
  return { fits, proofs: ownProofs(new Set([predicate])), related: [] }
}

function readBound(bound: string, predicate: string, set: ThingSet): MeasuredValue | undefined {
  return readMeasured(bound, isDatePredicate(predicateTerms(predicate)) || isDated(predicate, set))
}

/** Whether it says when by what it states: `joined: 2019-03-04`. */
function isDated(predicate: string, { members }: ThingSet): boolean {
  return members.some((one) => statedValue(one, predicate)?.dated)
}

function holds(value: number, sign: Bound['sign'], limit: number): boolean {
  if (sign === '=') return value === limit
  if (sign === '<') return value < limit
  if (sign === '>') return value > limit
  return sign === '<=' ? value <= limit : value >= limit
}

/** Names the clause relates things to, and how. */
function readRelation(clause: string, { names, set }: Reading): ReadCondition | undefined {
  const named = [...clause.matchAll(/@(\d+)/g)].map(([, at]) => names[Number(at)] ?? [])
  if (named.length === 0) return undefined
  const first = clause.indexOf('@')
  const ahead = contentTerms(clause.slice(0, first).replace(/@\d+/g, ' ').replace(LEADS_OVER, ' '))
  const behind = contentTerms(clause.slice(first).replace(/@\d+/g, ' '))
  const terms = withoutKinds([...ahead, ...behind], named.flat())
  const how = { terms, ends: endOf(clause, { isAhead: ahead.length > 0, isBehind: behind.length > 0 }), set, clause }
  const parts = named.map((things) => relatedTo(things, how))
  if (parts.some((part) => part === undefined)) return undefined
  const isAny = clause.includes(' | ')
  const known = parts.filter((part) => part !== undefined)
  return {
    fits: (thing) => {
      const all = known.map(({ fits }) => fits(thing))
      if (isAny && all.includes(true)) return true
      if (all.includes(undefined)) return undefined
      return isAny ? false : all.every(Boolean)
    },
    proofs: (thing) => known.flatMap(({ proofs }) => proofs(thing)),
    related: isAny ? [] : named.flatMap((things) => things.map(({ entity_id }) => entity_id)),
  }
}

/** Where only one relation leads to such things, it is meant. */
const LEADS_OVER = / (?:over|across|through|along)(?= (?:the )?$)/

/** `in the country Norland`: what it says beside a name of what the named thing is. */
function withoutKinds(terms: readonly string[], things: readonly KnownThing[]): readonly string[] {
  const kinds = new Set(things.flatMap((thing) => contentTerms(typeOfThing(thing).replace(/[_-]+/g, ' '))))
  const left = terms.filter((term) => !kinds.has(term))
  return left.length > 0 ? left : terms
}

/** The end of the relation the things asked for stand at. */
function endOf(
  clause: string,
  { isAhead, isBehind }: { readonly isAhead: boolean; readonly isBehind: boolean },
): RelationEnd | 'any' | undefined {
  if (isAhead && isBehind) return undefined
  if (/ by (?:the )?@/.test(clause)) return 'object'
  if (isAhead) return / of (?:the )?@/.test(clause) ? 'object' : 'subject'
  if (isBehind)
    return / of $/.test(clause) || / (?:has|have|had|with) (?:the )?@\d+ as /.test(clause) ? 'subject' : 'object'
  return 'any'
}

interface HowRelated {
  readonly terms: readonly string[]
  readonly ends: RelationEnd | 'any' | undefined
  readonly set: ThingSet
  readonly clause: string
}

/** Whether a thing has the relation to one of the namesakes; undefined: nothing in the graph is such a relation. */
function relatedTo(things: readonly KnownThing[], how: HowRelated): SetCondition | undefined {
  const { terms, ends, set, clause } = how
  if (ends === undefined) return undefined
  const ids = new Set(things.map(({ entity_id }) => entity_id))
  const members = new Set(set.members.map(({ entity_id }) => entity_id))
  const kinds = new Set(things.map(({ entity_id }) => entity_id.split('.')[4]))
  const isPlace = / (?:in|at|within|on|inside|from) (?:the )?@/.test(clause)
  // `bridges over the Thames`, `songs by Ann Holt`: whichever relation it is, where only one leads to such things.
  const isOver = / (?:over|across|through|along) (?:the )?@|^ (?:of|by|from) (?:the )?@\d+ $/.test(clause)
  const ofNames = things.flatMap((thing) => contentTerms(typeOfThing(thing).replace(/[_-]+/g, ' ')))
  const isOwn = (fact: ShownFact) => {
    if (fact.object_id === undefined || !kinds.has(fact.object_id.split('.')[4])) return false
    if (terms.length > 0) return saysAll(fact.predicate, terms) && isEnd(ends, statingEnd(fact), terms)
    const said = predicateTerms(fact.predicate)
    return isOver || said.some((term) => ofNames.includes(term)) || (isPlace && isPlacePredicate(fact.predicate))
  }
  const own = set.members.flatMap(({ facts = [] }) => facts.filter(isOwn))
  if (new Set(own.map(({ predicate }) => predicate)).size > 1 && terms.length === 0) return undefined
  const kind = contentTerms(set.type.replace(/[_-]+/g, ' '))
  const theirs = things.flatMap(({ facts = [] }) =>
    facts.filter((fact) => {
      if (fact.object_id === undefined || !members.has(fact.object_id)) return false
      if (terms.length > 0) return saysAll(fact.predicate, terms) && isEnd(ends, other(statingEnd(fact)), terms)
      return predicateTerms(fact.predicate).some((term) => kind.includes(term))
    }),
  )
  if (own.length + theirs.length === 0) return undefined
  const fromNames = new Set(theirs.map(({ object_id }) => object_id))
  return {
    proofs: ({ entity_id, facts = [] }) => {
      const stated = facts.filter(isOwn)
      if (stated.length > 0)
        return [...new Set(stated.map(({ predicate }) => predicate))].map((predicate) => ({ entity_id, predicate }))
      const said = (thing: KnownThing) =>
        theirs.filter((fact) => thing.facts?.includes(fact)).map(({ predicate }) => predicate)
      return things.flatMap((thing) =>
        [...new Set(said(thing))].map((predicate) => ({ entity_id: thing.entity_id, predicate })),
      )
    },
    fits: ({ entity_id, facts = [] }) => {
      const stated = facts.filter(isOwn)
      if (fromNames.has(entity_id) || stated.some(({ object_id = '' }) => ids.has(object_id))) return true
      return stated.length > 0 || fromNames.size > 0 ? false : undefined
    },
  }
}

function isEnd(wanted: RelationEnd | 'any', end: RelationEnd, terms: readonly string[]): boolean {
  return wanted === 'any' || wanted === end || holdsBothWays(terms)
}

function other(end: RelationEnd): RelationEnd {
  return end === 'subject' ? 'object' : 'subject'
}

/** `are gases`, `in gas state`: words of a literal. */
function readLiteral(clause: string, { set }: Reading): ReadCondition | undefined {
  if (/@|\d/.test(clause)) return undefined
  const words = plainWords(clause).filter((word) => contentTerms(word).length > 0)
  if (words.length === 0) return undefined
  const isSaid = (fact: ShownFact) => {
    if (fact.object_id !== undefined) return false
    const value = plainWords(fact.object)
    if (value.length === 0 || value.length > MOST_LITERAL_WORDS) return false
    const own = predicateTerms(fact.predicate)
    const left = words.filter((word) => !contentTerms(word).every((term) => own.includes(term)))
    return left.length === value.length && left.every((word, at) => singularsOf(word).includes(value[at] ?? ''))
  }
  const predicates = new Set(
    set.members.flatMap(({ facts = [] }) => facts.filter(isSaid).map(({ predicate }) => predicate)),
  )
  if (predicates.size !== 1) return undefined
  const fits: Fits = ({ facts = [] }) => {
    const stated = facts.filter(({ predicate }) => predicates.has(predicate))
    return stated.length === 0 ? undefined : stated.some(isSaid)
  }
  return { fits, proofs: ownProofs(predicates), related: [] }
}

const MOST_LITERAL_WORDS = 4
