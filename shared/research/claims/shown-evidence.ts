import { sentencesIn } from '../../text/prose.ts'
import { replaceRefs } from './evidence-references.ts'

/** One item of evidence with what the graph and the object store say of it. */
export interface ShownEvidence {
  readonly entity_id: string
  readonly label?: string | undefined
  /** What else it is called. */
  readonly aliases?: readonly string[] | undefined
  /** The retrieval source it came from. */
  readonly source?: string | undefined
  /** Its stored body, or the snippet where there is none. */
  readonly text?: string | undefined
  /** Its triples, those opaque to rules left out. */
  readonly facts?: readonly ShownFact[] | undefined
  /** Degrees. */
  readonly geo?: { readonly lat: number; readonly lon: number } | undefined
}

export interface ShownFact {
  readonly predicate: string
  /** A literal as text, or the label of the entity it leads to. */
  readonly object: string
  /** Of an edge. */
  readonly object_id?: string | undefined
}

/** Everything an answer may quote from an item or take a number from: its body, then its facts as sentences. */
export function citableText({ label, entity_id, text, facts }: ShownEvidence): string {
  const lines = groupFacts(facts ?? []).map(({ predicate, objects }) =>
    factText(label ?? entity_id, predicate, objects),
  )
  return [text ?? '', ...lines].filter((line) => line !== '').join('\n')
}

/** Objects of one predicate that are said: a hub has thousands. */
export const MAX_OBJECTS = 100

/** Facts of one predicate stand together, in their order. */
export function groupFacts(facts: readonly ShownFact[]): readonly {
  readonly predicate: string
  readonly objects: readonly string[]
  readonly object_ids: readonly string[]
}[] {
  return [...Map.groupBy(facts, ({ predicate }) => predicate)].map(([predicate, of]) => ({
    predicate,
    objects: [...new Set(of.map(({ object }) => plainName(object)))].slice(0, MAX_OBJECTS),
    object_ids: of.flatMap(({ object_id }) => object_id ?? []),
  }))
}

/** `Norway, borders: Sweden, Finland`; the predicate's last segment is its word. */
export function factText(label: string, predicate: string, objects: readonly string[]): string {
  const word = (predicate.split('.').at(-1) ?? predicate).replace(/[_-]+/g, ' ')
  return `${plainName(label)}, ${word}: ${objects.join(', ')}`
}

/**
 * A label or literal as a line of an answer can hold it: on one line, without what would be a citation, a quotation or
 * a reference; of an id nobody labelled, what it ends in.
 */
export function plainName(text: string): string {
  const named = replaceRefs(text, (ref) => ref.split(/[./]/).at(-1) ?? '')
  return named
    .trim()
    .replace(/\s+/g, ' ')
    .replaceAll('[', '(')
    .replaceAll(']', ')')
    .replace(/["“”„«»‹›「」『』＂`‘]|(?<![\p{L}\p{N}])['’]|['’](?![\p{L}\p{N}])|&(?:quot|[lr]dquo);/gu, '')
}

/** A name may end a sentence in its middle; then the rest of the line would cite nothing: `Washington DC`, `St Peter Port`. */
export function oneSentence(text: string): string {
  if (sentencesIn(`${text} X`).length < 2) return text
  return text.replace(/(?<=(?<![\p{L}\p{N}])\p{Lu}\p{Ll}?)\.(?!\p{N})/gu, '').replace(/[!?…。！？]|\.(?!\p{N})/gu, ';')
}
