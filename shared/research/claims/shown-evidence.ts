import { refuseEntityId } from '../../graph/entity-id.ts'
import { citationsIn } from '../../text/prose.ts'
import type { Evidence } from '../payloads/evidence.ts'

/** One item of evidence with what the graph and the object store say of it. */
export interface ShownEvidence {
  readonly entity_id: string
  readonly label?: string | undefined
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
const MAX_OBJECTS = 100

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

/** A reference of an answer to its evidence: what it says, and the place from 1 of what it names, if it names any. */
interface EvidenceRef {
  readonly ref: string
  readonly place: number | undefined
}

type Items = readonly Pick<Evidence, 'entity_id' | 'objectstore_ref'>[]

/** Citations (`[1]`, `[an.entity.id]`), then six-part ids and object refs that stand in the prose. */
export function refsIn(text: string, evidence: Items): readonly EvidenceRef[] {
  const cited = citationsIn(text).flatMap(({ ids }) => ids)
  return [...new Set([...cited, ...refsInProse(text)])].map((ref) => ({ ref, place: placeOf(ref, evidence) }))
}

/** The same text without the references; a citation keeps its others. */
export function withoutRefs(text: string, refs: ReadonlySet<string>): string {
  let from = 0
  const kept: string[] = []
  for (const { ids, at, end } of citationsIn(text)) {
    const left = ids.filter((id) => !refs.has(id))
    const whole = text.slice(at, end)
    const before = left.length === 0 ? text.slice(from, at).trimEnd() : text.slice(from, at)
    kept.push(before, left.length === ids.length ? whole : left.length === 0 ? '' : `[${left.join(', ')}]`)
    from = end
  }
  return replaceRefs([...kept, text.slice(from)].join(''), (ref) => (refs.has(ref) ? GONE : ref))
}

/** What is left to read when citations, ids and object refs are taken out. */
export function withoutReferences(text: string): string {
  let from = 0
  const kept: string[] = []
  for (const { at, end } of citationsIn(text)) {
    kept.push(text.slice(from, at))
    from = end
  }
  return replaceRefs([...kept, text.slice(from)].join(' '), () => ' ')
}

const GONE = '(unknown reference)'
function placeOf(ref: string, evidence: Items): number | undefined {
  if (/^\d{1,6}$/.test(ref)) return Number(ref) >= 1 && Number(ref) <= evidence.length ? Number(ref) : undefined
  const at = evidence.findIndex(({ entity_id, objectstore_ref }) => ref === entity_id || ref === objectstore_ref)
  return at < 0 ? undefined : at + 1
}

/** Six-part ids and object refs that stand in a text, not in brackets. */
function refsInProse(text: string): readonly string[] {
  const found: string[] = []
  replaceRefs(text, (ref) => {
    found.push(ref)
    return ref
  })
  return found
}

/** The text with something else in their place. */
function replaceRefs(text: string, replace: (ref: string) => string): string {
  const named = text.replace(OBJECT_REF, (ref) => replace(ref))
  return named.replace(DOTTED, (ref) => (refuseEntityId(ref) === undefined ? replace(ref) : ref))
}

const OBJECT_REF = /objstore:\/\/[A-Za-z0-9._-]{1,64}\/[A-Za-z0-9._/-]{0,200}[A-Za-z0-9]/g
/** Six segments or more, so that a longer name has no id in it. */
const DOTTED = /(?<![\w.-])[A-Za-z0-9][\w-]*(?:\.[A-Za-z0-9][\w-]*){5,}(?![\w-])/g
