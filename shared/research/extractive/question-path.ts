import { factText, type ShownEvidence, type ShownFact } from '../claims/shown-evidence.ts'
import { namesIn } from '../question/label-mentions.ts'
import { contentTerms } from '../question/terms.ts'
import { type EvidenceUnit, evidenceUnits } from './evidence-units.ts'
import { askedEnd } from './relation-direction.ts'
import { holdsBothWays, type RelationEnd, statingEnd } from './thing-set.ts'

/** What follows from a question that describes what it asks about. */
interface AlongPath {
  readonly units: readonly EvidenceUnit[]
  readonly missing: readonly string[]
  readonly unseen: readonly string[]
  readonly things: number
  /** Of the units those that say what is asked, not what it is asked of. */
  readonly answering: readonly EvidenceUnit[]
}

/** Units of one that lists what fits a description. */
const MAX_ALONG = 24

/** undefined: it is a question of another form, or of relations the evidence does not have. */
export function followQuestionPath(
  question: string,
  { evidence, labels }: { readonly evidence: readonly ShownEvidence[]; readonly labels: readonly string[] },
): AlongPath | undefined {
  const types = [...new Set(evidence.flatMap(({ entity_id }) => contentTerms(entity_id.split('.')[4] ?? '')))]
  const predicates = evidence.flatMap(({ facts = [] }) => facts.map(({ predicate }) => predicate))
  const relations = [...new Set(predicates)].flatMap((predicate) => contentTerms(factText('', predicate, [])))
  // What an edge leads to may be named without an item of its own.
  const ends = evidence.flatMap(({ facts = [] }) =>
    facts.flatMap(({ object, object_id }) => (object_id ? [object] : [])),
  )
  const path = readQuestionPath(question, { labels: [...new Set([...labels, ...ends])], types, relations })
  // Where a described thing is, is not said by what describes it.
  const isAsked = path !== undefined && (path.asked.length > 0 || !/^\s*where\b/i.test(question))
  const solved = isAsked ? solvePath(path, evidence) : undefined
  return solved === undefined ? undefined : { ...solved, units: solved.units.slice(0, MAX_ALONG) }
}

/** A relation a described thing has. */
interface PathRelation {
  /** Its terms; none: any relation, as in `the countries that use the euro`. */
  readonly terms: readonly string[]
  /** Labels it leads to, each of them. */
  readonly names: readonly string[]
  /** The end of it at which the described thing stands; absent: at either. */
  readonly end?: RelationEnd
}

/** A thing the question does not name but describes: `the country that borders France and Spain`. */
interface PathStep {
  /** Its type, where the words before say one. */
  readonly type: string | undefined
  /** All of them hold; the last one leads to the next step's thing too, where there is a next step. */
  readonly relations: readonly PathRelation[]
}

/** What is asked of a thing that is described, the description from that thing on: each step leads to the next. */
interface QuestionPath {
  /** Terms of what is asked; none: which things they are. */
  readonly asked: readonly string[]
  /** The end of what is asked at which the described thing stands; absent: at either. */
  readonly askedOf?: RelationEnd
  readonly steps: readonly PathStep[]
}

interface KnownWords {
  readonly labels: readonly string[]
  /** Terms. */
  readonly types: readonly string[]
  /** Terms of predicates. */
  readonly relations: readonly string[]
}

/**
 * Reads `What is the capital of the country that borders France and Spain?` and `Which countries border both Germany and
 * Italy?` for what they ask and what they describe. undefined: a question of another form; most name what they ask about.
 */
export function readQuestionPath(question: string, { labels, types, relations }: KnownWords): QuestionPath | undefined {
  const { rest } = namesIn(question, [])
  const words = rest.replace(OPENING, ' ').replace(AS_CLAUSE, ' that $1')
  const from = words.search(CONNECTOR)
  if (from < 0) return whichOnes({ ...namesIn(words, labels), said: words }, types)
  const described = words.slice(from).replace(MORE, (text, and: string, word: string) => {
    return contentTerms(word).some((term) => relations.includes(term)) ? ` ${and} that ${word}` : text
  })
  const first = { ...namesIn(words.slice(0, from), labels), said: '' }
  const clauses = described
    .split(CONNECTOR)
    .slice(1)
    .map((part) => ({ ...namesIn(part, labels), said: part }))
  if (first.names.length > 0 || clauses.at(-1)?.names.length === 0) return undefined
  const asked = withoutType(first.rest, types)
  const head = rest.replace(AS_CLAUSE, ' that $1')
  return {
    asked,
    ...askedOf(head.slice(0, head.length - words.length + from), asked),
    steps: stepsOf([first, ...clauses], types),
  }
}

/** `Who taught the painter` asks for who did, `the capital of the country` for what the country states. */
function askedOf(head: string, asked: readonly string[]): Pick<QuestionPath, 'askedOf'> {
  const before = head.replace(DESCRIBED_NOUN, ' ')
  const last = contentTerms(before).at(-1)
  if (last === undefined || !asked.includes(last)) return {}
  const end = askedEnd(`${before}${DESCRIBED} `, DESCRIBED, asked)
  return end === 'any' ? {} : { askedOf: end === 'subject' ? 'object' : 'subject' }
}

const DESCRIBED_NOUN = / (?:(?:the|a|an|any|some) )?\S+ ?$/
/** Stands in the place of what is described, as no name does. */
const DESCRIBED = 'thing0'

/** The words a question begins with; they ask, and describe nothing. */
const OPENING = /^ (?:(?:in|on|of|to|from|by) )?(?:which|what|whose|who|where|how many|list|name)\b(?: all)?/
const AS_CLAUSE = / (bordering|neighbouring|neighboring|using|speaking|containing)\b/g
const CONNECTOR = / (?:(?:in|on|of|to|by) )?(?:that|which|whose|who|where)(?= )/
/** `whose capital is Lima and borders Brazil`: another clause. */
const MORE = / (and|but) (\S+)(?= (?!of ))/g
const AND = / (?:and|but) $/

type Part = ReturnType<typeof namesIn> & { readonly said: string }

/** `countries border both Germany and Italy`: the things of a type that have a relation to what is named. */
function whichOnes({ names, rest, said }: Part, types: readonly string[]): QuestionPath | undefined {
  const [type, ...terms] = contentTerms(rest)
  if (names.length === 0 || type === undefined || !types.includes(type)) return undefined
  return { asked: [], steps: [{ type, relations: [{ terms, names, ...endIn(said, names, terms) }] }] }
}

/** A clause after `and` says more of the thing the one before it describes. */
function stepsOf(parts: readonly Part[], types: readonly string[]): readonly PathStep[] {
  const steps: { readonly type: string | undefined; readonly relations: PathRelation[] }[] = []
  for (const [at, { names, rest, said }] of parts.slice(1).entries()) {
    const before = parts[at]?.rest ?? ''
    const isLast = at === parts.length - 2
    const terms = isLast ? contentTerms(rest) : withoutType(rest, types)
    const relation = { terms, names, ...endIn(said, names, terms) }
    const same = AND.test(before) ? steps.at(-1) : undefined
    if (same === undefined) steps.push({ type: typeIn(before, types), relations: [relation] })
    else same.relations.push(relation)
  }
  return steps
}

/** `that Acme bought` and `that bought Acme` describe things at two ends of one relation. */
function endIn(said: string, names: readonly string[], terms: readonly string[]): Pick<PathRelation, 'end'> {
  const [end, ...others] = new Set(names.map((name) => askedEnd(said, name, terms)))
  return end === undefined || end === 'any' || others.length > 0 ? {} : { end }
}

/** The last of the terms, where it is a type: `.. of the country`. */
function typeIn(rest: string, types: readonly string[]): string | undefined {
  const last = contentTerms(rest).at(-1)
  return last !== undefined && types.includes(last) ? last : undefined
}

function withoutType(rest: string, types: readonly string[]): readonly string[] {
  return typeIn(rest, types) === undefined ? contentTerms(rest) : contentTerms(rest).slice(0, -1)
}

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
  readonly answering: readonly EvidenceUnit[]
}

/**
 * Follows a path from the names outward: a thing fits that states the relation to every name, and to a thing that fits
 * the next step. undefined: no predicate of the evidence is the relation, so facts have nothing to say to it.
 */
function solvePath(path: QuestionPath, evidence: readonly ShownEvidence[]): SolvedPath | undefined {
  if (!isOfFacts(path, evidence)) return undefined
  const units = Map.groupBy(evidenceUnits(evidence), ({ n }) => n)
  const items = evidence.map((item, at) => ({ item, units: units.get(at + 1) ?? [] }))
  let found: readonly Fitting[] | undefined
  for (const step of path.steps.toReversed()) {
    const next = found
    found = items.flatMap((item) => fitting(item, { step, next, items }))
    const own = saidByNamed(path, found, items)
    if (own !== undefined) return { units: own, missing: [], unseen: [], things: 1, answering: own }
    if (found.length === 0)
      return { units: [], missing: wanted(path), unseen: unseenOf(step, evidence), things: 0, answering: [] }
  }
  const answers = (found ?? []).map(({ known, proof }) => ({ proof, said: sayOf(known, path, items) }))
  const told = answers.filter(({ said }) => said !== undefined)
  const saying = new Set(told.flatMap(({ proof, said = [] }) => [...proof, ...said]))
  const answering = path.asked.length === 0 ? [...saying] : told.flatMap(({ said = [] }) => said)
  return {
    units: [...saying],
    missing: told.length === 0 ? path.asked : [],
    unseen: [],
    things: told.length,
    answering,
  }
}

/** An item of evidence with its units. */
interface KnownItem {
  readonly item: ShownEvidence
  readonly units: readonly EvidenceUnit[]
}

/** One the description fits, with what says so. */
interface Fitting {
  readonly known: KnownItem
  readonly proof: readonly EvidenceUnit[]
}

interface Search {
  readonly step: PathStep
  /** What the last relation must lead to, too. */
  readonly next: readonly Fitting[] | undefined
  readonly items: readonly KnownItem[]
}

/**
 * `Which countries border Norway?` and `Which country is Oslo in?` ask of one thing what it may state itself: `Norway,
 * borders: Sweden, Finland`. It stands for all of them where it names each that says it from its side.
 */
function saidByNamed(
  { asked, steps }: QuestionPath,
  found: readonly Fitting[],
  items: readonly KnownItem[],
): readonly EvidenceUnit[] | undefined {
  const [step, ...others] = steps
  const [relation, ...more] = step?.relations ?? []
  const [name, ...names] = relation?.names ?? []
  if (relation === undefined || others.length + more.length + names.length + asked.length > 0) return undefined
  for (const { item, units } of items.filter((one) => one.item.label === name)) {
    const isNamed = relation.terms.length > 0
    const facts = isNamed ? factsOf(item, turned(relation)) : leadingBack(step?.type, item.facts ?? [])
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

function fitting(known: KnownItem, search: Search): readonly Fitting[] {
  const { type, relations } = search.step
  if (type !== undefined && !contentTerms(typeOf(known.item)).includes(type)) return []
  const toNames = relations.flatMap((relation) =>
    relation.names.map((name) => toName(known, { name, relation }, search)),
  )
  const toNext = search.next === undefined ? [] : [toFitting(known, relations.at(-1), search.next)]
  const proofs = [...toNext, ...toNames]
  return proofs.every((proof) => proof.length > 0) ? [{ known, proof: proofs.flat() }] : []
}

/** Units that say the relation to a name: the item's own, or of the named thing where it leads back. */
function toName(
  { item, units }: KnownItem,
  { name, relation }: { readonly name: string; readonly relation: PathRelation },
  { step, items }: Search,
): readonly EvidenceUnit[] {
  const own = factsOf(item, relation).filter(({ object }) => object === name)
  const isTold =
    relation.terms.length === 0 || (own.length === 0 && relation.end !== undefined && !holdsBothWays(relation.terms))
  const back = isTold ? items.filter((other) => other.item.label === name) : []
  return [
    ...unitsOf(own, units),
    ...back.flatMap((named) => {
      const facts =
        relation.terms.length > 0
          ? factsOf(named.item, turned(relation))
          : leadingBack(step.type, named.item.facts ?? [])
      return unitsOf(
        facts.filter(({ object_id }) => object_id === item.entity_id),
        named.units,
      )
    }),
  ]
}

/** Units that say the relation to things that fit the next step, after what says that they fit. */
function toFitting(
  { item, units }: KnownItem,
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

function factsOf({ facts = [] }: ShownEvidence, { terms, end }: PathRelation): readonly ShownFact[] {
  const isEnd = (fact: ShownFact) => end === undefined || end === statingEnd(fact) || holdsBothWays(terms)
  return facts.filter((fact) => terms.length === 0 || (says(fact.predicate, terms) && isEnd(fact)))
}

/** The same relation as the named thing states it. */
function turned(relation: PathRelation): PathRelation {
  if (relation.end === undefined) return relation
  return { ...relation, end: relation.end === 'subject' ? 'object' : 'subject' }
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

/** What says of an item what is asked: facts of those predicates, its own or of others about it, else a sentence with all of it. */
function sayOf(
  { item, units }: KnownItem,
  { asked, askedOf: end }: QuestionPath,
  items: readonly KnownItem[],
): readonly EvidenceUnit[] | undefined {
  const stated = units.filter(
    ({ predicate }) => predicate !== undefined && wordsOf(predicate).some((w) => asked.includes(w)),
  )
  const facts = stated.filter((unit) => isAtEnd(unit, end, asked))
  const told = end === 'object' ? items.flatMap((other) => unitsAbout(item, other, asked)) : []
  const said = new Set([...facts, ...told].flatMap(({ predicate = '' }) => wordsOf(predicate)))
  if (asked.every((term) => said.has(term))) return [...facts, ...told]
  // Who says it the other way round has the same words.
  if (facts.length < stated.length) return undefined
  const sentence = units.find(({ kind, terms }) => kind === 'sentence' && asked.every((term) => terms.has(term)))
  return sentence === undefined ? undefined : [sentence]
}

/** A literal has no other end. */
function isAtEnd({ predicate = '', entities }: EvidenceUnit, end: RelationEnd | undefined, asked: readonly string[]) {
  return end === undefined || entities.size < 2 || end === statingEnd({ predicate }) || holdsBothWays(asked)
}

/** What another thing states of this one by the relation that is asked. */
function unitsAbout(thing: ShownEvidence, { item, units }: KnownItem, asked: readonly string[]) {
  const facts = (item.facts ?? []).filter(
    (fact) => fact.object_id === thing.entity_id && says(fact.predicate, asked) && statingEnd(fact) === 'subject',
  )
  return unitsOf(facts, units)
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
  return contentTerms(factText('', predicate, []))
}

function typeOf({ entity_id }: ShownEvidence): string {
  return (entity_id.split('.')[4] ?? '').replace(/[_-]+/g, ' ')
}

function wanted({ asked, steps }: QuestionPath): readonly string[] {
  return [...new Set([...asked, ...steps.flatMap(({ relations }) => relations.flatMap(({ terms }) => terms))])]
}
