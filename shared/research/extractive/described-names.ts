import type { ShownEvidence } from '../claims/shown-evidence.ts'
import { isNamedIn, namesIn } from '../question/label-mentions.ts'
import { contentTerms, plainWords } from '../question/terms.ts'
import { verbsOfNoun } from './asked-words.ts'
import type { EvidenceUnit } from './evidence-units.ts'
import { predicateTerms, predicateText, statingEnd } from './thing-set.ts'

/** A question with what its descriptions lead to, and the facts that say so. */
export interface ReducedQuestion {
  readonly topic: string
  readonly proof: readonly EvidenceUnit[]
}

/** Descriptions of one question. */
const MOST_STEPS = 3

/**
 * `When was the author of Silent Looms born?` is `When was Marta Kowalczyk born?`, where the book has one author: each
 * `the R of NAME` that a question asks more about is replaced by the one thing it is. What asks for nothing else stays.
 */
export function withDescribed(
  topic: string,
  evidence: readonly ShownEvidence[],
  units: readonly EvidenceUnit[],
): ReducedQuestion {
  let reduced: ReducedQuestion = { topic, proof: [] }
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const next = oneStep(reduced.topic, evidence, units)
    if (next === undefined) break
    reduced = { topic: next.topic, proof: [...reduced.proof, ...next.proof] }
  }
  return reduced
}

function oneStep(topic: string, evidence: readonly ShownEvidence[], units: readonly EvidenceUnit[]) {
  const labels = [...new Set(evidence.flatMap(({ label }) => label ?? []))]
  const { names } = namesIn(topic, labels)
  const steps = names.map((name) => stepBy(topic, name, { evidence, units, labels }))
  return steps.find((step) => step !== undefined)
}

interface KnownEvidence {
  readonly evidence: readonly ShownEvidence[]
  readonly units: readonly EvidenceUnit[]
  readonly labels: readonly string[]
}

function stepBy(topic: string, name: string, { evidence, units, labels }: KnownEvidence): ReducedQuestion | undefined {
  const found = describedBy(topic, name)
  const places = evidence.flatMap((item, at) => (item.label === name ? [{ item, n: at + 1 }] : []))
  const [place, ...namesakes] = places
  if (found === undefined || place === undefined || namesakes.length > 0) return undefined
  const isIt = saysRelation(found.relation)
  const facts = (place.item.facts ?? []).filter(({ predicate }) => isIt(predicate))
  const [object, ...others] = new Set(facts.map(({ object_id }) => object_id))
  const target = evidence.find(({ entity_id }) => entity_id === object)
  if (object === undefined || others.length > 0 || target?.label === undefined) return undefined
  const rest = `${found.before} ${found.after}`
  // What is left must ask something of it, not name it.
  if (contentTerms(namesIn(rest, labels).rest).length === 0 || plainWords(rest).includes('that')) return undefined
  const predicates = new Set(facts.map(({ predicate }) => predicate))
  const proof = units.filter(({ n, predicate = '' }) => n === place.n && predicates.has(predicate))
  return { topic: `${found.before} ${target.label} ${found.after}`.replace(/\s+/g, ' ').trim(), proof }
}

/** A predicate of these words, or for the noun of who does it the verb with `by`: `designer` by `designed by`. */
function saysRelation(relation: string): (predicate: string) => boolean {
  const terms = contentTerms(relation)
  const [noun = '', ...more] = plainWords(relation)
  const verbs = more.length === 0 ? verbsOfNoun(noun) : []
  return (predicate) => {
    const own = predicateTerms(predicate)
    const isDone = own.length === 1 && plainWords(predicateText(predicate)).at(-1) === 'by'
    if (isDone && verbs.includes(own[0] ?? '')) return true
    return own.length === terms.length && terms.every((term) => own.includes(term))
  }
}

/** What is asked of a relation by its noun: `What has the author Tanabe?`, `Is Tanabe the author of Paper Rain?` */
export interface AskedNoun {
  readonly units: readonly EvidenceUnit[]
  /** Whether one of them has both names, where it was asked. */
  readonly isOther: boolean
  readonly form: 'list' | 'whether'
}

/**
 * The facts of that very relation, whatever else things of such a type state; undefined: another form, or nothing states
 * the relation.
 */
export function askedByNoun(
  topic: string,
  evidence: readonly ShownEvidence[],
  units: readonly EvidenceUnit[],
): AskedNoun | undefined {
  const labels = [...new Set(evidence.flatMap(({ label }) => label ?? []))]
  const { names } = namesIn(topic, labels)
  const isList = /^(?:what|who) has the /i.test(topic)
  const [, of = ''] =
    /^(?:is|was|are|were) .{1,100}? (?:the|an?) ([\p{L}-]{2,40}(?: [\p{L}-]{2,40}){0,2}) of /iu.exec(topic) ?? []
  const asked = contentTerms(namesIn(isList ? topic : of, labels).rest)
  const said = contentTerms(namesIn(topic, labels).rest)
  if (asked.length === 0 || said.length !== asked.length || names.length !== (isList ? 1 : 2)) return undefined
  const isIt = ({ predicate = '' }: EvidenceUnit) => {
    const own = predicateTerms(predicate)
    return own.length === asked.length && asked.every((term) => own.includes(term))
  }
  const last = names.toSorted((a, b) => placeOf(topic, a) - placeOf(topic, b)).at(-1) ?? ''
  const stating = units.filter((unit) => unit.kind === 'fact' && isIt(unit) && statingEnd(unit) === 'subject')
  if (isList) {
    const ids = evidence.flatMap(({ label, entity_id }) => (label === last ? [entity_id] : []))
    const found = stating.filter(({ n, entities }) => {
      return evidence[n - 1]?.label !== last && ids.some((id) => entities.has(id))
    })
    return found.length === 0 ? undefined : { units: found, isOther: false, form: 'list' }
  }
  const own = stating.filter(({ n }) => evidence[n - 1]?.label === last)
  if (own.length === 0) return undefined
  const both = own.filter(({ text }) => names.every((name) => isNamedIn(text, name)))
  return { units: both.length > 0 ? both : own, isOther: both.length === 0, form: 'whether' }
}

function placeOf(topic: string, name: string): number {
  return ` ${plainWords(topic).join(' ')} `.indexOf(` ${plainWords(name).join(' ')} `)
}

/** `the R of NAME` and `NAME's R`: what stands before and behind it. */
function describedBy(topic: string, name: string) {
  const written = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+')
  const of = new RegExp(`\\bthe ((?:[\\p{L}-]+ ){1,3})of (?:the )?${written}(?![\\p{L}\\p{N}])(?!['’]s)`, 'iu').exec(
    topic,
  )
  const own = new RegExp(`(?<![\\p{L}\\p{N}])${written}['’]s? ([\\p{L}-]+)(?![\\p{L}])`, 'iu').exec(topic)
  const match = of ?? own
  if (match === null) return undefined
  const [whole, relation = ''] = match
  // `the size of the team of X`: the innermost counts.
  const inner = of === null ? relation : (relation.split(/\bof the /i).at(-1) ?? relation)
  return {
    relation: inner,
    before: topic.slice(0, match.index),
    after: topic.slice(match.index + whole.length),
  }
}
