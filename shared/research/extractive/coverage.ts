import type { ShownEvidence } from '../claims/shown-evidence.ts'
import { questionWithoutTimeAndLocation } from '../question/hint-patterns.ts'
import { namesIn } from '../question/label-mentions.ts'
import { askedRelation, contentTerms } from '../question/terms.ts'
import { COMPARATIVE, compareFacts } from './compare-facts.ts'
import { chooseLinkedUnits, type EvidenceUnit, evidenceUnits } from './evidence-units.ts'
import { followQuestionPath } from './question-path.ts'
import { thingsInRange } from './things-in-range.ts'

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
