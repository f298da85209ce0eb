import { timeOf, typeOf } from '../../shared/graph/edge.ts'
import type { Entity } from '../../shared/graph/entity.ts'
import { readableByRules } from '../../shared/graph/rule-opaque.ts'
import type { SearchHit } from '../../shared/graph/search-index.ts'
import type { Evidence } from '../../shared/research/evidence.ts'
import type { Hit } from '../../shared/research/fuse-evidence.ts'
import type { RetrievalSource } from '../../shared/research/retrieval.ts'
import { factText, groupFacts } from '../../shared/research/shown-evidence.ts'

/** A hit before it has a place among the lists, with what is said of it in a list of candidates. */
export type Found = Omit<Hit, 'list'> & { readonly label?: string | undefined; readonly type?: string | undefined }

interface Origin {
  readonly tier: '0' | '1'
  readonly source: RetrievalSource
}

/** A hit of the search index. */
export function foundHit(hit: SearchHit, { tier, source }: Origin): Found {
  const { entity_id, score, label, type, snippet_text, objectstore_ref, time } = hit
  return {
    evidence: evidenceOf({ entity_id, tier, source, score, snippet_text, objectstore_ref }),
    ...(time === undefined ? {} : { recorded_at: time }),
    label,
    type,
  }
}

/** An entity of the graph; where it has no preview, its first facts are one. */
export function foundEntity(entity: Entity, { tier, source }: Origin, score: number): Found {
  const { entity_id, snippet, objectstore_ref, label } = entity
  const time = timeOf(entity)
  const snippet_text = snippet ?? factsOf(entity)
  return {
    evidence: evidenceOf({ entity_id, tier, source, score, snippet_text, objectstore_ref }),
    ...(time === undefined ? {} : { recorded_at: new Date(time).toISOString() }),
    label,
    type: typeOf(entity),
  }
}

function evidenceOf({ snippet_text, objectstore_ref, ...rest }: Evidence): Evidence {
  return {
    ...rest,
    ...(snippet_text === undefined || snippet_text === '' ? {} : { snippet_text }),
    ...(objectstore_ref === undefined ? {} : { objectstore_ref }),
  }
}

/** Characters of a preview that is made of facts. */
const PREVIEW = 240

/** Literals only: an edge's object is an id, which says nothing to a reader. */
function factsOf({ entity_id, label, triples = [] }: Entity): string {
  const literals = readableByRules(triples).filter(({ object }) => !/^[\w-]+(\.[\w-]+){5}$/.test(String(object)))
  const facts = groupFacts(literals.map(({ predicate, object }) => ({ predicate, object: String(object) })))
  let text = ''
  for (const { predicate, objects } of facts) {
    const next = factText(label ?? entity_id, predicate, objects)
    if (text.length + next.length > PREVIEW) break
    text = text === '' ? next : `${text}; ${next}`
  }
  return text
}
