import { sentencesIn } from '../../text/prose.ts'
import { factText, groupFacts, type ShownEvidence } from '../claims/shown-evidence.ts'
import { contentTerms } from '../question/terms.ts'

/** The smallest piece an answer is put together from: a sentence of a body, or what one predicate says. */
export interface EvidenceUnit {
  /** Its item's place in the evidence, from 1: `[n]`. */
  readonly n: number
  readonly kind: 'sentence' | 'fact'
  /** Of a fact. */
  readonly predicate?: string | undefined
  /** Of a fact: how many it states. */
  readonly objects?: number
  readonly text: string
  readonly terms: ReadonlySet<string>
  /** Of these the ones its own text has, not its item's name alone. */
  readonly said: ReadonlySet<string>
  /** The item's entity and those it leads to. */
  readonly entities: ReadonlySet<string>
}

/** Bodies are read so far, and so many sentences of each are weighed: an answer of five takes milliseconds. */
const MAX_CHARACTERS = 50_000
const MAX_SENTENCES = 400
/** A longer sentence is a table or a list nobody would quote. */
const LONGEST = 600

/** `Its capital is St.`: a sentence that ends in the middle of a name. */
const CUT_OFF = /(?<!\p{L})\p{Lu}\p{Ll}?\.$/u

/** Facts first: they are exact. The item's own name and type count as said in each of its units. */
export function evidenceUnits(evidence: readonly ShownEvidence[]): readonly EvidenceUnit[] {
  return evidence.flatMap((item, place) => [...factUnits(item, place + 1), ...sentenceUnits(item, place + 1)])
}

function factUnits(item: ShownEvidence, n: number): readonly EvidenceUnit[] {
  return groupFacts(item.facts ?? []).map(({ predicate, objects, object_ids }) => {
    const text = factText(item.label ?? item.entity_id, predicate, objects)
    const terms = new Set([...ownTerms(item), ...contentTerms(text)])
    return {
      n,
      kind: 'fact',
      predicate,
      objects: objects.length,
      text,
      terms,
      said: terms,
      entities: new Set([item.entity_id, ...object_ids]),
    }
  })
}

function sentenceUnits(item: ShownEvidence, n: number): readonly EvidenceUnit[] {
  const text = (item.text ?? '').slice(0, MAX_CHARACTERS)
  const sentences = joinCutOff(sentencesIn(text).slice(0, MAX_SENTENCES), text)
  return sentences
    .filter((text) => text.length <= LONGEST && !CUT_OFF.test(text))
    .map((text) => {
      const said = new Set(contentTerms(text))
      const terms = new Set([...ownTerms(item), ...said])
      return { n, kind: 'sentence', text, terms, said, entities: new Set([item.entity_id]) }
    })
}

/** What a name of one letter cuts is one sentence: `According to J. Ruiz, ..` says nothing without its beginning. */
function joinCutOff(sentences: readonly string[], text: string): readonly string[] {
  const plain = text.replace(/\s+/g, ' ')
  const joined: string[] = []
  for (const sentence of sentences) {
    const before = joined.at(-1)
    const both = `${before ?? ''} ${sentence}`
    // Only what stands there so: marks between two sentences are left out of both.
    if (before !== undefined && CUT_OFF.test(before) && plain.includes(both)) joined[joined.length - 1] = both
    else joined.push(sentence)
  }
  return joined
}

/** Its label, and the type segment of its id. */
function ownTerms({ label = '', entity_id }: ShownEvidence): readonly string[] {
  return contentTerms(`${label} ${(entity_id.split('.')[4] ?? '').replace(/[_-]+/g, ' ')}`)
}

interface Wanted {
  /** Terms to cover. */
  readonly open: readonly string[]
  readonly weights: ReadonlyMap<string, number>
  /** The thing the question names: the chain begins with what is about it or mentions it. */
  readonly start?: { readonly entity_id: string; readonly name: readonly string[] }
}

/** Units of one chain: hops of a question, and more to spare. */
const CHAIN_UNITS = 6

/**
 * Greedy: each next unit adds most weight of terms still open, long ones less; a tie goes to the earlier. Only units
 * linked to those before are looked at: about one of their entities, or with the whole name the chain began with. A hop
 * must itself say something that is asked: the area of a country is none of its capital's.
 */
export function chooseLinkedUnits(
  units: readonly EvidenceUnit[],
  { open: terms, weights, start }: Wanted,
): EvidenceUnit[] {
  const open = new Set(terms)
  const entities = new Set(start === undefined ? [] : [start.entity_id])
  const mentions = (unit: EvidenceUnit) =>
    start !== undefined && start.name.length > 0 && start.name.every((term) => unit.terms.has(term))
  const isLinked = (unit: EvidenceUnit) => [...unit.entities].some((id) => entities.has(id)) || mentions(unit)
  const chosen: EvidenceUnit[] = []
  while (open.size > 0 && chosen.length < CHAIN_UNITS) {
    const next = bestUnit(entities.size === 0 ? units : units.filter(isLinked), open, weights)
    if (next === undefined) break
    chosen.push(next)
    for (const id of next.entities) entities.add(id)
    for (const term of next.terms) open.delete(term)
  }
  return chosen
}

/** What a sentence has only from the name of its text counts less than what it says. */
const BY_NAME_ALONE = 0.5

function bestUnit(units: readonly EvidenceUnit[], open: ReadonlySet<string>, weights: ReadonlyMap<string, number>) {
  let found: { readonly unit?: EvidenceUnit; readonly gain: number } = { gain: 0 }
  for (const unit of units) {
    const had = [...unit.terms].filter((term) => open.has(term))
    const weight = had.reduce((sum, term) => {
      return sum + (weights.get(term) ?? 0) * (unit.said.has(term) ? 1 : BY_NAME_ALONE)
    }, 0)
    const gain = weight / Math.sqrt(unit.terms.size + 4)
    // Sums of fractions: less than this is no difference.
    if (gain > found.gain + 1e-9) found = { unit, gain }
  }
  return found.unit
}
