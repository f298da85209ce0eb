import type { Entity } from './entity.ts'
import { readableByRules } from './rule-opaque.ts'
import { isEdge } from './triple.ts'

/** A statement whose object is an entity. Reads as `subject predicate object`. */
export interface Edge {
  readonly subject: string
  readonly predicate: string
  readonly object: string
}

/** The edges an entity states, each once, by predicate and object. An opaque triple is none: a model wrote it. */
export function edgesOf({ entity_id, triples = [] }: Entity): readonly Edge[] {
  const edges = new Map<string, Edge>()
  for (const triple of readableByRules(triples)) {
    if (!isEdge(triple)) continue
    const edge = { subject: entity_id, predicate: triple.predicate, object: String(triple.object) }
    edges.set(`${edge.predicate}#${edge.object}`, edge)
  }
  return [...edges].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, edge]) => edge)
}

/** When an entity happened or was last stated, ISO: its own time, else its newest triple's. */
export function timeOf({ time, triples = [] }: Entity): string | undefined {
  if (time !== undefined) return time
  const times = triples.map(({ timestamp }) => Date.parse(timestamp))
  return times.length === 0 ? undefined : new Date(Math.max(...times)).toISOString()
}

/** What an entity is: its own word, else the fifth segment of its id. */
export function typeOf({ entity_id, type }: Pick<Entity, 'entity_id' | 'type'>): string {
  return type ?? entity_id.split('.')[4] ?? ''
}
