import { type EvidenceUnit, evidenceUnits } from './evidence-units.ts'
import type { PathRelation, PathStep, QuestionPath } from './question-path.ts'
import { termsOf } from './question-terms.ts'
import { factText, type ShownEvidence, type ShownFact } from './shown-evidence.ts'

/** What a path comes to in the evidence. */
interface SolvedPath {
  /** Facts and sentences that say it, each thing's together. */
  readonly units: readonly EvidenceUnit[]
  /** Terms nothing says of what the path leads to. */
  readonly missing: readonly string[]
  /** Labels of things the path may lead to whose own item is not in the evidence. */
  readonly unseen: readonly string[]
  /** Things it leads to of which what is asked is said. */
  readonly things: number
}

/**
 * Follows a path from the names outward: a thing fits that states the relation to every name, and to a thing that fits
 * the next step. undefined: no predicate of the evidence is the relation, so facts have nothing to say to it.
 */
export function solvePath(path: QuestionPath, evidence: readonly ShownEvidence[]): SolvedPath | undefined {
  if (!isOfFacts(path, evidence)) return undefined
  const units = Map.groupBy(evidenceUnits(evidence), ({ n }) => n)
  const items = evidence.map((item, at) => ({ item, units: units.get(at + 1) ?? [] }))
  let found: readonly Fitting[] | undefined
  for (const step of path.steps.toReversed()) {
    const next = found
    found = items.flatMap((item) => fitting(item, { step, next, items }))
    const own = saidByNamed(path, found, items)
    if (own !== undefined) return { units: own, missing: [], unseen: [], things: 1 }
    if (found.length === 0) return { units: [], missing: wanted(path), unseen: unseenOf(step, evidence), things: 0 }
  }
  const answers = (found ?? []).map(({ known, proof }) => ({ proof, said: sayOf(known, path.asked) }))
  const told = answers.filter(({ said }) => said !== undefined)
  const saying = new Set(told.flatMap(({ proof, said = [] }) => [...proof, ...said]))
  return { units: [...saying], missing: told.length === 0 ? path.asked : [], unseen: [], things: told.length }
}

/** An item of evidence with its units. */
interface Known {
  readonly item: ShownEvidence
  readonly units: readonly EvidenceUnit[]
}

/** One the description fits, with what says so. */
interface Fitting {
  readonly known: Known
  readonly proof: readonly EvidenceUnit[]
}

interface Search {
  readonly step: PathStep
  /** What the last relation must lead to, too. */
  readonly next: readonly Fitting[] | undefined
  readonly items: readonly Known[]
}

/**
 * `Which countries border Norway?` and `Which country is Oslo in?` ask of one thing what it may state itself: `Norway,
 * borders: Sweden, Finland`. It stands for all of them where it names each that says it from its side.
 */
function saidByNamed(
  { asked, steps }: QuestionPath,
  found: readonly Fitting[],
  items: readonly Known[],
): readonly EvidenceUnit[] | undefined {
  const [step, ...others] = steps
  const [relation, ...more] = step?.relations ?? []
  const [name, ...names] = relation?.names ?? []
  if (relation === undefined || others.length + more.length + names.length + asked.length > 0) return undefined
  for (const { item, units } of items.filter((one) => one.item.label === name)) {
    const isNamed = relation.terms.length > 0
    const facts = isNamed ? factsOf(item, relation) : leadingBack(step?.type, item.facts ?? [])
    const objects = new Set(facts.map(({ object_id }) => object_id))
    const isAll = !isNamed || found.every(({ known }) => objects.has(known.item.entity_id))
    if (facts.length > 0 && isAll) return unitsOf(facts, units)
  }
  return undefined
}

/** Every word of a relation is one of the evidence's. One that mixes two of them fits nothing, and that is said. */
function isOfFacts({ steps }: QuestionPath, evidence: readonly ShownEvidence[]): boolean {
  const known = new Set(evidence.flatMap(({ facts = [] }) => facts.flatMap(({ predicate }) => wordsOf(predicate))))
  return steps.every(({ relations }) => relations.every(({ terms }) => terms.every((term) => known.has(term))))
}

function fitting(known: Known, search: Search): readonly Fitting[] {
  const { type, relations } = search.step
  if (type !== undefined && !termsOf(typeOf(known.item)).includes(type)) return []
  const toNames = relations.flatMap((relation) =>
    relation.names.map((name) => toName(known, { name, relation }, search)),
  )
  const toNext = search.next === undefined ? [] : [toFitting(known, relations.at(-1), search.next)]
  const proofs = [...toNext, ...toNames]
  return proofs.every((proof) => proof.length > 0) ? [{ known, proof: proofs.flat() }] : []
}

/** Units that say the relation to a name: the item's own, or of the named thing where it leads back. */
function toName(
  { item, units }: Known,
  { name, relation }: { readonly name: string; readonly relation: PathRelation },
  { step, items }: Search,
): readonly EvidenceUnit[] {
  const own = factsOf(item, relation).filter(({ object }) => object === name)
  const back = relation.terms.length > 0 ? [] : items.filter((other) => other.item.label === name)
  return [
    ...unitsOf(own, units),
    ...back.flatMap((named) => {
      const facts = leadingBack(step.type, named.item.facts ?? [])
      return unitsOf(
        facts.filter(({ object_id }) => object_id === item.entity_id),
        named.units,
      )
    }),
  ]
}

/** Units that say the relation to things that fit the next step, after what says that they fit. */
function toFitting(
  { item, units }: Known,
  relation: PathRelation | undefined,
  next: readonly Fitting[],
): readonly EvidenceUnit[] {
  const facts = relation === undefined ? [] : factsOf(item, relation)
  return next.flatMap(({ known, proof }) => {
    const own = unitsOf(
      facts.filter(({ object_id }) => object_id === known.item.entity_id),
      units,
    )
    return own.length === 0 ? [] : [...proof, ...own]
  })
}

function factsOf({ facts = [] }: ShownEvidence, { terms }: PathRelation): readonly ShownFact[] {
  return facts.filter(({ predicate }) => terms.length === 0 || says(predicate, terms))
}

/** `Bergen, country: Norway`: what is said of the named thing leads to what is described, by the word of its type. */
function leadingBack(type: string | undefined, facts: readonly ShownFact[]): readonly ShownFact[] {
  return type === undefined
    ? []
    : facts.filter(({ predicate, object_id }) => object_id !== undefined && says(predicate, [type]))
}

function unitsOf(facts: readonly ShownFact[], units: readonly EvidenceUnit[]): readonly EvidenceUnit[] {
  const predicates = new Set(facts.map(({ predicate }) => predicate))
  return units.filter(({ predicate }) => predicate !== undefined && predicates.has(predicate))
}

/** What an item says of what is asked: the facts of those predicates, else a sentence with all of it; undefined: nothing. */
function sayOf({ units }: Known, asked: readonly string[]): readonly EvidenceUnit[] | undefined {
  const facts = units.filter(
    ({ predicate }) => predicate !== undefined && wordsOf(predicate).some((w) => asked.includes(w)),
  )
  const said = new Set(facts.flatMap(({ predicate = '' }) => wordsOf(predicate)))
  if (asked.every((term) => said.has(term))) return facts
  const sentence = units.find(({ kind, terms }) => kind === 'sentence' && asked.every((term) => terms.has(term)))
  return sentence === undefined ? undefined : [sentence]
}

/** What the named things themselves state by that relation: read backward it says where to look, and proves nothing. */
function unseenOf({ relations }: PathStep, evidence: readonly ShownEvidence[]): readonly string[] {
  const seen = new Set(evidence.map(({ label }) => label))
  const objects = relations.flatMap(({ names, terms }) =>
    evidence
      .filter(({ label = '' }) => names.includes(label))
      .map(({ facts = [] }) => new Set(facts.flatMap((fact) => (says(fact.predicate, terms) ? [fact.object] : [])))),
  )
  const [first = new Set<string>(), ...others] = objects.filter(({ size }) => size > 0)
  return [...first].filter((one) => !seen.has(one) && others.every((set) => set.has(one)))
}

/** The predicate's own word has every one of the terms. */
function says(predicate: string, terms: readonly string[]): boolean {
  const words = wordsOf(predicate)
  return terms.length > 0 && terms.every((term) => words.includes(term))
}

function wordsOf(predicate: string): readonly string[] {
  return termsOf(factText('', predicate, []))
}

function typeOf({ entity_id }: ShownEvidence): string {
  return (entity_id.split('.')[4] ?? '').replace(/[_-]+/g, ' ')
}

function wanted({ asked, steps }: QuestionPath): readonly string[] {
  return [...new Set([...asked, ...steps.flatMap(({ relations }) => relations.flatMap(({ terms }) => terms))])]
}
