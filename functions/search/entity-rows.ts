import { cutPassages } from '../../shared/graph/cut-passages.ts'
import { type Entity, entityEdges, entityTime, entityType } from '../../shared/graph/entity.ts'
import { type NameKey, nameKeys, withoutBracket } from '../../shared/graph/mentions.ts'
import { readableTriples } from '../../shared/graph/opaque-triples.ts'
import { plainWord, textWords } from '../../shared/graph/search-words.ts'
import { isEdge, type Triple, WORD_FOR } from '../../shared/graph/triple.ts'
import { sha256 } from '../../shared/text/hash.ts'

/** What the index keeps of one entity. */
interface EntityRows {
  readonly label: string | null
  /** Every name and the words of its id's last segment, one a line: searched with the weight of a title. */
  readonly names: string
  readonly type: string
  /** Its own type in small letters, where it has one; the fifth segment is searched anyway. */
  readonly kind: string | null
  readonly segment: string
  readonly domain: string
  /** Milliseconds since 1970. */
  readonly at: number | null
  readonly lat: number | null
  readonly lon: number | null
  readonly ref: string | null
  readonly passages: readonly { readonly facts: string; readonly text: string }[]
  /** Texts it states, with their predicates: a list of predicate, value, predicate, value .. */
  readonly literals: readonly string[]
  /** As texts of others are searched for them. */
  readonly keys: readonly NameKey[]
  /** As they are looked up: labels (0), aliases (1), what either is as people write it (2); words for relations (3). */
  readonly lookups: readonly { readonly alias: 0 | 1 | 2 | 3; readonly name: string }[]
  readonly stated: readonly { readonly predicate: string; readonly object: number }[]
  /** Ids it leads to, by each predicate once. */
  readonly edges: readonly { readonly predicate: string; readonly target: string }[]
}

export function entityRows(entity: Entity, body: string): EntityRows {
  const rows = thingRows(entity, body)
  const isWord = readableTriples(entity.triples ?? []).some(({ predicate }) => predicate === WORD_FOR)
  return isWord ? wordRows(rows) : rows
}

/** A word is no thing that is looked for, named or searched. */
function wordRows(rows: EntityRows): EntityRows {
  const words = rows.lookups.filter(({ alias }) => alias < 2).map(({ name }) => ({ alias: 3 as const, name }))
  return { ...rows, passages: [], literals: [], keys: [], lookups: words }
}

function thingRows(entity: Entity, body: string): EntityRows {
  const { entity_id, label, aliases = [], type, geo, snippet = '', objectstore_ref, triples = [] } = entity
  const segments = entity_id.split('.')
  const readable = readableTriples(triples)
  const at = entityTime(entity)
  const instance = wordsOf(segments[5] ?? '')
  const labels = label === undefined ? [] : [label]
  return {
    label: label ?? null,
    names: [...new Set([...labels, ...aliases, instance])].join('\n'),
    type: entityType(entity),
    kind: type === undefined ? null : lookupName(type),
    segment: lookupName(segments[4] ?? ''),
    domain: segments[2] ?? '',
    at: at === undefined ? null : Date.parse(at),
    lat: geo?.lat ?? null,
    lon: geo?.lon ?? null,
    ref: objectstore_ref ?? null,
    passages: [
      { facts: factsOf(entityType(entity), readable), text: snippet },
      ...cutPassages(body).map(({ text }) => ({ facts: '', text })),
    ],
    literals: readable.flatMap((triple) =>
      typeof triple.object === 'string' && !isEdge(triple) ? [triple.predicate, triple.object] : [],
    ),
    keys: nameKeys([...labels, ...aliases]),
    lookups: [
      ...labels.map((one) => ({ alias: 0 as const, name: lookupName(one) })),
      ...aliases.map((alias) => ({ alias: 1 as const, name: lookupName(alias) })),
      ...writtenNames([...labels, ...aliases]),
    ],
    stated: readable.map(({ predicate, object }) => ({ predicate, object: objectNumber(object) })),
    edges: entityEdges(entity).map(({ predicate, object }) => ({ predicate, target: object })),
  }
}

/** A name as it is compared: case and outer blanks do not count. */
export function lookupName(name: string): string {
  return name.trim().toLowerCase()
}

/** The words of a name, without case, accents and what stands between them: `Zone-A` is `zone a`. */
export function writtenName(name: string): string {
  return textWords(name)
    .map(({ word }) => plainWord(word))
    .join(' ')
}

/** Those that are not found as they are: `zone a` of `Zone-A`, `ed wood` of `Ed Wood (film)`. */
function writtenNames(names: readonly string[]): readonly { readonly alias: 2; readonly name: string }[] {
  const exact = new Set(names.map(lookupName))
  const written = new Set(names.flatMap((name) => [writtenName(name), writtenName(withoutBracket(name))]))
  return [...written].filter((name) => name !== '' && !exact.has(name)).map((name) => ({ alias: 2, name }))
}

/** The object of a statement as a number below 2 ** 48. */
export function objectNumber(object: Triple['object']): number {
  return Number.parseInt(sha256(lookupName(String(object))).slice(0, 12), 16)
}

/** What is stated, in words: `country; capital oslo; borders sweden, finland`. Each predicate is named once. */
function factsOf(type: string, triples: readonly Triple[]): string {
  const byPredicate = new Map<string, string[]>()
  for (const triple of triples) {
    const word = wordsOf(triple.predicate.split('.').at(-1) ?? '')
    const value = isEdge(triple) ? wordsOf(String(triple.object).split('.')[5] ?? '') : String(triple.object)
    byPredicate.set(word, [...(byPredicate.get(word) ?? []), value])
  }
  return [type, ...[...byPredicate].map(([word, values]) => `${word} ${values.join(', ')}`)].join('; ')
}

function wordsOf(segment: string): string {
  return segment.replace(/[-_]+/g, ' ').trim()
}
