import { strictNumber } from '../../text/numbers.ts'
import { factText, groupFacts, plainName, type ShownEvidence } from '../claims/shown-evidence.ts'
import {
  kilometresBetween,
  type NearLocation,
  questionWithoutTimeAndLocation,
  readNearLocation,
} from '../question/hint-patterns.ts'
import { askedRelation, contentTerms, namesIn } from '../question/terms.ts'
import { chooseLinkedUnits, type EvidenceUnit, evidenceUnits } from './evidence-units.ts'
import { followQuestionPath } from './question-path.ts'

/** What the evidence says to a question. */
export interface Coverage {
  /** In the order they were chosen: each linked to one before it. */
  readonly units: readonly EvidenceUnit[]
  /** Terms of the question no chosen unit has. */
  readonly missing: readonly string[]
  /** Terms of the question that name nothing in the evidence: what is asked. */
  readonly relation: readonly string[]
  /** Part of the question that is covered, rare terms counting more: 0..1. */
  readonly share: number
  /** The relation asked for is covered whole, and of a longer question enough. */
  readonly covered: boolean
  /** Labels of things that may be what the question describes and whose own item is not in the evidence. */
  readonly unseen?: readonly string[]
  /** Things that fit a description. */
  readonly things?: number
}

/** Units of one answer. */
const ANSWER_UNITS = 8
/** Part of a long question that must be covered; what it asks for must be covered whole. */
const ENOUGH = 0.75
/** Terms of a question that is not long: all of them count. */
const SHORT = 3

/**
 * What lies somewhere is listed, a question that describes what it asks about is answered by following
 * its relations (question-path.ts), one that compares by the numbers. For every other it chooses units that
 * together cover the question's terms, rare ones first, each linked to what was chosen before: by an entity both are
 * about, or by a name of the question both mention. A question about several named things is covered for each of them.
 * Same question, same evidence, same units.
 */
export function coverQuestion(topic: string, evidence: readonly ShownEvidence[]): Coverage {
  const question = questionWithoutTimeAndLocation(topic).replaceAll(COMPARATIVE, ' ')
  const terms = [...new Set(contentTerms(question))]
  const units = evidenceUnits(evidence)
  const labels = [...new Set(evidence.flatMap(({ label }) => label ?? []))]
  const asked = { topic, question, terms, evidence, units, labels, weights: weigh(terms, units) }
  return lyingThere(asked) ?? described(asked) ?? sideBySide(asked) ?? inChains(asked)
}

interface AskedQuestion {
  readonly topic: string
  /** Without the words that chose the evidence and those that compare. */
  readonly question: string
  readonly terms: readonly string[]
  readonly evidence: readonly ShownEvidence[]
  readonly units: readonly EvidenceUnit[]
  readonly labels: readonly string[]
  readonly weights: ReadonlyMap<string, number>
}

function lyingThere({ topic, evidence }: AskedQuestion): Coverage | undefined {
  const { places, isAll } = thingsInRange(topic, evidence)
  const covered = places.length > 0
  return isAll ? { units: [], missing: [], relation: [], share: covered ? 1 : 0, covered } : undefined
}

function described({ question, evidence, labels, terms, weights }: AskedQuestion): Coverage | undefined {
  const along = followQuestionPath(question, { evidence, labels })
  if (along === undefined) return undefined
  const covered = along.units.length > 0
  return { ...along, relation: terms, share: shareOf(terms, along.missing, weights), covered }
}

/** `Is Norway larger than Peru?` asks for two numbers, and for nothing else. */
function sideBySide({ topic, terms, evidence, labels }: AskedQuestion): Coverage | undefined {
  const comparing = contentTerms((topic.match(COMPARATIVE) ?? []).join(' '))
  if (comparing.length === 0) return undefined
  const covered = compareFacts(topic, evidence) !== undefined
  const { names } = namesIn(topic, labels)
  const called = new Set(names.flatMap(contentTerms))
  if (!covered && (names.length < 2 || !terms.every((term) => called.has(term)))) return undefined
  return { units: [], missing: covered ? [] : comparing, relation: comparing, share: covered ? 1 : 0, covered }
}

function inChains({ question, terms, evidence, units, labels, weights }: AskedQuestion): Coverage {
  const called = new Set(namesIn(question, labels).names)
  const named = evidence.filter(({ label }) => label !== undefined && called.has(label))
  const names = new Set(named.flatMap(({ label = '' }) => contentTerms(label)))
  const relation = terms.filter((term) => !names.has(term))
  // A name alone asks nothing of it: then any unit with the name will do.
  const starts = relation.length > 0 && named.length > 0 ? named : [undefined]
  const chains = starts.map((start) => {
    if (start === undefined) return chooseLinkedUnits(units, { open: terms, weights })
    const wanted = { open: relation, weights, start: startOf(start) }
    const own = chooseLinkedUnits(unitsOf(start, evidence, units), wanted)
    // What a thing says of itself needs no other thing.
    return relation.every((term) => own.some((unit) => unit.terms.has(term))) ? own : chooseLinkedUnits(units, wanted)
  })
  const kept = [...new Set(chains.flat())].slice(0, ANSWER_UNITS)
  const said = new Set([...kept.flatMap((unit) => [...unit.terms]), ...names])
  const missing = terms.filter((term) => !said.has(term))
  const share = shareOf(terms, missing, weights)
  const isEach = named.every((item, at) => chains[at % chains.length]?.length !== 0 || isMentioned(item, kept))
  const covered = kept.length > 0 && isEach && isCovered(question, { missing, relation, share })
  return { units: kept, missing, relation, share, covered }
}

function unitsOf(item: ShownEvidence, evidence: readonly ShownEvidence[], units: readonly EvidenceUnit[]) {
  const n = evidence.indexOf(item) + 1
  return units.filter((unit) => unit.n === n)
}

function startOf({ entity_id, label = '' }: ShownEvidence) {
  return { entity_id, name: contentTerms(label) }
}

/** Something is said of each thing the question names, if only beside another. */
function isMentioned({ entity_id, label = '' }: ShownEvidence, units: readonly EvidenceUnit[]): boolean {
  const name = contentTerms(label)
  return units.some((unit) => unit.entities.has(entity_id) || name.every((term) => unit.terms.has(term)))
}

function isCovered(
  question: string,
  { missing, relation, share }: Pick<Coverage, 'missing' | 'relation' | 'share'>,
): boolean {
  const lacking = new Set(relation.filter((term) => missing.includes(term)))
  if (lacking.size === 0) return true
  return relation.length > SHORT && share >= ENOUGH && !askedRelation(question).some((term) => lacking.has(term))
}

/** A term weighs log(1 + all units / units that have it); one nobody has weighs most. */
function weigh(terms: readonly string[], units: readonly EvidenceUnit[]): ReadonlyMap<string, number> {
  return new Map(
    terms.map((term) => {
      const having = units.filter((unit) => unit.terms.has(term)).length
      return [term, Math.log(1 + (units.length + 1) / Math.max(1, having))]
    }),
  )
}

function shareOf(terms: readonly string[], missing: readonly string[], weights: ReadonlyMap<string, number>): number {
  const total = totalWeight(terms, weights)
  return total === 0 ? 0 : Math.max(0, total - totalWeight(missing, weights)) / total
}

function totalWeight(terms: readonly string[], weights: ReadonlyMap<string, number>): number {
  return terms.reduce((total, term) => total + (weights.get(term) ?? 0), 0)
}

/** `larger`, `older`, `more populous`: they ask for two numbers side by side, nothing says them of one thing. */
const COMPARATIVE =
  /\b(?:larger|bigger|greater|higher|longer|taller|older|smaller|lower|shorter|younger|deeper|faster|slower|heavier|lighter|compare[ds]?|comparison|difference|versus|vs)\b/gi

/** What larger means where nothing else is said. */
const SIZE = /\b(?:larger|bigger|smaller)\b/i

/**
 * The one line that puts the named things side by side, greatest first, by the fact the question asks for: only where
 * each of them has exactly one number of it.
 */
export function compareFacts(topic: string, evidence: readonly ShownEvidence[]): string | undefined {
  if (topic.search(COMPARATIVE) < 0) return undefined
  const items = evidence.map((item, place) => ({ item, n: place + 1, facts: groupFacts(item.facts ?? []) }))
  const { names } = namesIn(topic, [...new Set(evidence.flatMap(({ label }) => label ?? []))])
  const named = names.map((name) => items.filter(({ item }) => item.label === name))
  const predicates = (named[0] ?? []).flatMap(({ facts }) => facts.map(({ predicate }) => predicate))
  const predicate = askedPredicate(topic, predicates)
  if (named.length < 2 || predicate === undefined) return undefined
  // A city and a country may have one name: what has such a number is meant.
  const rows = named.flatMap((same) => same.flatMap((one) => comparedRow(one, predicate) ?? []).slice(0, 1))
  if (rows.length < named.length) return undefined
  const sorted = rows.toSorted((a, b) => b.number - a.number || a.n - b.n)
  const word = factText('', predicate, []).replace(/^, |: $/g, '')
  return `By ${word}, greatest first: ${sorted.map(({ label, written, n }) => `${label} ${written} [${n}]`).join(', ')}.`
}

/** The predicate with a word of the question; of a larger or smaller thing its area or size. */
function askedPredicate(topic: string, predicates: readonly string[]): string | undefined {
  const saying = (terms: readonly string[]) =>
    predicates.find((predicate) => contentTerms(factText('', predicate, [])).some((term) => terms.includes(term)))
  return saying(contentTerms(topic)) ?? (SIZE.test(topic) ? saying(contentTerms('area size')) : undefined)
}

interface ComparedItem {
  readonly item: ShownEvidence
  readonly n: number
  readonly facts: ReturnType<typeof groupFacts>
}

function comparedRow({ item, n, facts }: ComparedItem, predicate: string) {
  const objects = facts.find((group) => group.predicate === predicate)?.objects ?? []
  const written = objects[0] ?? ''
  const number = objects.length === 1 ? strictNumber(written.replaceAll(',', '')) : undefined
  return number === undefined ? undefined : { label: plainName(item.label ?? item.entity_id), n, number, written }
}

/** What a circle or a time range found: an answer of its own. */
interface ThingsFound {
  /** Places in the evidence, from 1; of a circle the nearest first. */
  readonly places: readonly number[]
  /** The question asks for them and for nothing else. */
  readonly isAll: boolean
}

/** The things of the evidence that lie where the question says, or were found by when they were; of the type it names. */
export function thingsInRange(topic: string, evidence: readonly ShownEvidence[]): ThingsFound {
  const circle = readNearLocation(topic.replaceAll('_', ' '))
  const asked = contentTerms(questionWithoutTimeAndLocation(topic))
  const types = new Set(evidence.flatMap(typeTerms).filter((term) => asked.includes(term)))
  const placed = evidence.map((item, at) => ({ item, place: at + 1, far: distance(item, circle) }))
  const found = placed
    .filter(
      ({ item, far }) => far !== undefined && (types.size === 0 || typeTerms(item).some((term) => types.has(term))),
    )
    .toSorted((a, b) => (a.far ?? 0) - (b.far ?? 0) || a.place - b.place)
  const isAll = circle !== undefined && asked.every((term) => types.has(term) || ANY_TYPE.has(term))
  return { places: found.map(({ place }) => place), isAll }
}

/** Terms that stand for things of any type. */
const ANY_TYPE: ReadonlySet<string> = new Set(['plac', 'place', 'thing', 'entity'])

/** Kilometres from the middle of the circle, 0 where there is none; undefined: it does not lie there. */
function distance({ source, geo }: ShownEvidence, circle: NearLocation | undefined): number | undefined {
  if (circle === undefined || geo === undefined)
    return source === 'spatial' || source === 'temporal_range' ? 0 : undefined
  const far = kilometresBetween(circle, geo)
  return far <= circle.kilometres ? far : undefined
}

function typeTerms({ entity_id }: ShownEvidence): readonly string[] {
  return contentTerms((entity_id.split('.')[4] ?? '').replace(/[_-]+/g, ' '))
}
