import { sentencesIn } from '../gates/sentences.ts'
import { termsOf } from './question-terms.ts'
import { factText, groupFacts, type ShownEvidence } from './shown-evidence.ts'

/** The smallest piece an answer is put together from: a sentence of a body, or what one predicate says. */
export interface EvidenceUnit {
  /** Its item's place in the evidence, from 1: `[n]`. */
  readonly n: number
  readonly kind: 'sentence' | 'fact'
  /** Of a fact. */
  readonly predicate?: string
  readonly text: string
  readonly terms: ReadonlySet<string>
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
    const terms = new Set([...ownTerms(item), ...termsOf(text)])
    return { n, kind: 'fact', predicate, text, terms, entities: new Set([item.entity_id, ...object_ids]) }
  })
}

function sentenceUnits(item: ShownEvidence, n: number): readonly EvidenceUnit[] {
  const sentences = sentencesIn((item.text ?? '').slice(0, MAX_CHARACTERS)).slice(0, MAX_SENTENCES)
  return sentences
    .filter((text) => text.length <= LONGEST && !CUT_OFF.test(text))
    .map((text) => ({
      n,
      kind: 'sentence',
      text,
      terms: new Set([...ownTerms(item), ...termsOf(text)]),
      entities: new Set([item.entity_id]),
    }))
}

/** Its label, and the type segment of its id. */
function ownTerms({ label = '', entity_id }: ShownEvidence): readonly string[] {
  return termsOf(`${label} ${(entity_id.split('.')[4] ?? '').replace(/[_-]+/g, ' ')}`)
}
