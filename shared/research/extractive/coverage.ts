import type { WhyRefused } from '../claims/claim-lines.ts'
import type { ShownEvidence } from '../claims/shown-evidence.ts'
import { questionWithoutTimeAndLocation } from '../question/hint-patterns.ts'
import { isNamedIn, namesIn } from '../question/label-mentions.ts'
import { askedRelation, contentTerms, plainWords } from '../question/terms.ts'
import { inWordsOfGraph, type RelationName } from './asked-words.ts'
import { COMPARATIVE, compareFacts, eitherOr } from './compare-facts.ts'
import { askedByNoun, withDescribed } from './described-names.ts'
import { chooseLinkedUnits, type EvidenceUnit, evidenceUnits } from './evidence-units.ts'
import { isOfKind, namesSaid, type QuestionForm, readQuestionForm } from './question-form.ts'
import { followQuestionPath } from './question-path.ts'
import { turnedRound } from './relation-direction.ts'
import { predicateTerms } from './thing-set.ts'
import { thingsInRange } from './things-in-range.ts'
import { whyNoAnswer } from './why-no-answer.ts'

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
  /** Things of which the same is said as of the one that was chosen. */
  readonly alike?: number
  /** Units that say what is asked, where relations were followed to it. */
  readonly answering?: readonly EvidenceUnit[]
  /** Why what has the question's words does not answer it. */
  readonly refused?: WhyRefused
  /** Things side by side: the one line that says it. */
  readonly compared?: string | undefined
  /** It is asked whether a thing states something, and it states something else. */
  readonly isOther?: true
}

/** Units of one answer. */
const ANSWER_UNITS = 8
/** Part of a long question that must be covered; what it asks for must be covered whole. */
const ENOUGH = 0.75
/** Terms of a question that is not long: all of them count. */
const SHORT = 3

/**
 * What the evidence says to a question that asks one thing. What lies somewhere is listed, a question that describes what it asks about is answered by following
 * its relations (question-path.ts), one that compares by the numbers. For every other it chooses units that
 * together cover the question's terms, rare ones first, each linked to what was chosen before: by an entity both are
 * about, or by a name of the question both mention. A question about several named things is covered for each of them.
 * Same question, same evidence, same units.
 */
export function coverOne(
  written: string,
  evidence: readonly ShownEvidence[],
  words: readonly RelationName[],
): Coverage {
  const units = evidenceUnits(evidence)
  const known = { predicates: predicatesOf(evidence), things: evidence, words }
  const { topic, proof } = withDescribed(inWordsOfGraph(written, known), evidence, units)
  const coverage = coverPlain(topic === written ? written : inWordsOfGraph(topic, known), evidence, units)
  if (proof.length === 0 || !coverage.covered) return coverage
  return {
    ...coverage,
    units: [...new Set([...proof, ...coverage.units])],
    answering: coverage.answering ?? coverage.units,
  }
}

function predicatesOf(evidence: readonly ShownEvidence[]): readonly string[] {
  return [...new Set(evidence.flatMap(({ facts = [] }) => facts.map(({ predicate }) => predicate)))]
}

/** Of a question in words of the graph, its descriptions replaced by what they lead to. */
function coverPlain(topic: string, evidence: readonly ShownEvidence[], units: readonly EvidenceUnit[]): Coverage {
  const question = questionWithoutTimeAndLocation(topic).replaceAll(COMPARATIVE, (word) =>
    KEPT.test(word) ? word : ' ',
  )
  const terms = [...new Set(contentTerms(question))]
  const labels = [...new Set(evidence.flatMap(({ label }) => label ?? []))]
  const asked = { topic, question, terms, evidence, units, labels, weights: weigh(terms, units) }
  const special = lyingThere(asked) ?? sideBySide(asked) ?? oneOfTwo(asked) ?? byNoun(asked)
  if (special !== undefined) return special
  const coverage = described(asked) ?? inRightDirection(asked)
  const refused = coverage.covered ? whyNoAnswer(topic, coverage, labels) : undefined
  if (refused !== undefined) return { ...coverage, covered: false, refused }
  // What a description of a description leads to is followed along relations, or it is not known which one is meant.
  const isGuess = coverage.covered && coverage.things === undefined && isPutTogether(topic, coverage)
  return isGuess ? { ...coverage, covered: false } : whetherStated(asked, coverage)
}

function oneOfTwo({ topic, terms, evidence, units }: AskedQuestion): Coverage | undefined {
  const said = eitherOr(topic, evidence, units)
  return said === undefined ? undefined : { units: said, missing: [], relation: terms, share: 1, covered: true }
}

/** Asked by the noun of a relation, where facts state that one. */
function byNoun({ topic, terms, evidence, units }: AskedQuestion): Coverage | undefined {
  const asked = readQuestionForm(topic).negated ? undefined : askedByNoun(topic, evidence, units)
  if (asked === undefined) return undefined
  const { form, isOther } = asked
  const things = form === 'list' ? asked.units.length : 1
  const said = asked.units.slice(0, MAX_LISTED)
  return { units: said, missing: [], relation: terms, share: 1, covered: true, things, ...(isOther && { isOther }) }
}

/** Facts of one that lists what has something. */
const MAX_LISTED = 24

/**
 * `Does Lind work in Neurology?` is answered by the fact that has both; where there is none, by all that the thing states
 * of it, which is something else. What states it of others says nothing.
 */
function whetherStated({ topic, labels, evidence, units }: AskedQuestion, coverage: Coverage): Coverage {
  const { isYesNo, negated } = readQuestionForm(topic)
  const { names } = namesIn(topic, labels)
  if (!coverage.covered || !isYesNo || names.length < 2 || coverage.units.some(({ kind }) => kind !== 'fact'))
    return coverage
  const both = coverage.units.filter((unit) => names.every((name) => isNamedIn(unit.text, name)))
  if (both.length > 0) return { ...coverage, units: both }
  const said = ` ${plainWords(topic).join(' ')} `
  const placeOf = (name: string) => said.indexOf(` ${plainWords(name).join(' ')} `)
  const [first = ''] = names.toSorted((a, b) => placeOf(a) - placeOf(b))
  const chosen = coverage.units.filter(({ n }) => evidence[n - 1]?.label === first)
  // A thing may be somewhere else where another stands: a literal says nothing of that.
  const had = new Set(chosen.flatMap(({ terms }) => [...terms].filter((term) => coverage.relation.includes(term))))
  const own = units.filter(({ n, kind, entities, predicate = '' }) => {
    const isEdge = kind === 'fact' && evidence[n - 1]?.label === first && entities.size > 1
    return isEdge && predicateTerms(predicate).some((term) => had.has(term))
  })
  const isOther =
    own.length > 0 && !negated && !own.some(({ text }) => names.some((name) => name !== first && isNamedIn(text, name)))
  return isOther ? { ...coverage, units: own, isOther } : { ...coverage, covered: false }
}

/** Passages that are shown where none is known to answer. */
const MOST_PASSAGES = 3
/** Part of the question's weight a passage has at least. */
const LEAST_SHARE = 0.25

/**
 * The sentences with most of the question's words, rare ones counting more, for somebody to read: none where the question
 * denies something: those would say what is not asked.
 */
export function passagesThatMayAnswer(
  topic: string,
  evidence: readonly ShownEvidence[],
  { relation, missing, refused }: Pick<Coverage, 'relation' | 'missing' | 'refused'>,
): readonly EvidenceUnit[] {
  const { negated, kind } = readQuestionForm(topic)
  // Of what is named and stands nowhere, passages on other things say nothing.
  const isUnknown = namesSaid(topic.replace(/^\S+ /, '')).some((name) =>
    contentTerms(name).every((term) => missing.includes(term)),
  )
  if (negated || isUnknown) return []
  const terms = [...new Set(contentTerms(topic))]
  const units = evidenceUnits(evidence).filter((unit) => unit.kind === 'sentence')
  const mayNot = whatMayNot(topic, evidence, { relation, refused, kind })
  const weights = weigh(terms, units)
  const total = totalWeight(terms, weights)
  const scored = units.flatMap((unit) => {
    const own = new Set(contentTerms(unit.text))
    const had = terms.filter((term) => unit.terms.has(term))
    const saysMore = relation.length === 0 || relation.some((term) => own.has(term))
    const share = total === 0 ? 0 : totalWeight(had, weights) / total
    if (!saysMore || share < LEAST_SHARE || mayNot(unit)) return []
    const fits = kind === undefined || isOfKind(unit, kind, topic) ? OF_ITS_KIND : 1
    return [{ unit, score: (fits * share) / Math.sqrt(unit.terms.size + TEMPER) }]
  })
  const sorted = scored.toSorted((a, b) => b.score - a.score).map(({ unit }) => unit)
  // Behind a sentence of another thing nobody knows whom `It` means.
  return [...sorted.slice(0, 1), ...sorted.slice(1).filter(({ text }) => !LEANING.test(text))].slice(0, MOST_PASSAGES)
}

interface Refusal {
  readonly relation: readonly string[]
  readonly refused: WhyRefused | undefined
  readonly kind: QuestionForm['kind']
}

/** What a question was refused for is shown to nobody as what may answer it. */
function whatMayNot(
  topic: string,
  evidence: readonly ShownEvidence[],
  { relation, refused, kind }: Refusal,
): (unit: EvidenceUnit) => boolean {
  if (refused === 'other_kind' && kind !== undefined) return (unit) => !isOfKind(unit, kind, topic)
  if (refused !== 'other_way') return () => false
  return turnedRound(
    topic,
    relation,
    evidence.flatMap(({ label }) => label ?? []),
  )
}

const LEANING = /^(?:It|Its|They|Their|He|His|She|Her)\b/

/** How much more a passage counts that has what the question asks for: a date, a name, a number. */
const OF_ITS_KIND = 1.5
/** Terms a short sentence counts as if it had more. */
const TEMPER = 20

/** Sentences that only together have the words of one question: what stands in two of them may be about two things. */
function isPutTogether(topic: string, { units, relation, missing }: Coverage): boolean {
  if (readQuestionForm(topic).isNested) return true
  if (units.every(({ kind }) => kind === 'fact')) return false
  if (missing.some((term) => relation.includes(term))) return true
  if (units.length < 2 || / and /i.test(topic)) return false
  return !units.some(({ terms }) => relation.every((term) => terms.has(term)))
}

/** What says the relation the other way round is left out, if it is all there is, it is no answer. */
function inRightDirection(asked: AskedQuestion): Coverage {
  const { names } = namesIn(asked.question, asked.labels)
  const called = new Set(names.flatMap(contentTerms))
  const isTurned = turnedRound(
    asked.topic,
    asked.terms.filter((term) => !called.has(term)),
    asked.labels,
  )
  const units = asked.units.filter((unit) => !isTurned(unit))
  const coverage = inChains({ ...asked, units })
  if (coverage.covered || units.length === asked.units.length) return coverage
  // What is missing is what nothing says, whichever way round.
  const either = inChains(asked)
  return either.covered ? { ...either, covered: false, refused: 'other_way' } : either
}

/** Words of a comparison that mean something without one. */
const KEPT = /^(?:before|after|first|last)$/i

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
  const words = topic.match(COMPARATIVE) ?? []
  const comparing = contentTerms(words.join(' '))
  if (words.length === 0) return undefined
  const compared = compareFacts(topic, evidence)
  const covered = compared !== undefined
  const { names } = namesIn(topic, labels)
  const called = new Set(names.flatMap(contentTerms))
  if (!covered && (comparing.length === 0 || names.length < 2 || !terms.every((term) => called.has(term))))
    return undefined
  const share = covered ? 1 : 0
  return { units: [], missing: covered ? [] : comparing, relation: comparing, share, covered, compared }
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
  // What is said of a thing that is named is not asked of others.
  const isNamed = named.some((item) => evidence.indexOf(item) + 1 === kept[0]?.n)
  const alike = isNamed ? [] : saidAlike(kept, { units, terms })
  const all = [...kept, ...alike.flat()].slice(0, ANSWER_UNITS)
  return { units: all, missing, relation, share, covered, ...(alike.length === 0 ? {} : { alike: alike.length }) }
}

/** `Which ships sank?` has an answer in every ship that states it: facts of other things that say as much by the same predicates. */
function saidAlike(
  chosen: readonly EvidenceUnit[],
  { units, terms }: Pick<AskedQuestion, 'units' | 'terms'>,
): readonly (readonly EvidenceUnit[])[] {
  const [first] = chosen
  if (first === undefined || chosen.some(({ kind, n }) => kind !== 'fact' || n !== first.n)) return []
  const others = Map.groupBy(
    units.filter(({ kind, n }) => kind === 'fact' && n !== first.n),
    ({ n }) => n,
  )
  return [...others.values()].flatMap((of) => {
    const same = chosen.flatMap((unit) => of.find((other) => saysAsMuch(other, unit, terms)) ?? [])
    return same.length === chosen.length ? [same] : []
  })
}

function saysAsMuch(unit: EvidenceUnit, than: EvidenceUnit, terms: readonly string[]): boolean {
  return unit.predicate === than.predicate && terms.every((term) => unit.terms.has(term) || !than.terms.has(term))
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
