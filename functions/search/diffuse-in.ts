import type { DatabaseSync } from 'node:sqlite'
import { diffuse } from '../../shared/graph/diffusion.ts'
import type { DiffusionQuery, SearchHit } from '../../shared/graph/search-index.ts'
import { searchWords } from '../../shared/graph/search-words.ts'
import { scoredHits } from './hits.ts'
import { type LoadedGraph, placeOf } from './load-graph.ts'
import { parseSearch } from './parse-search.ts'

/** How much more than another a kind of edge draws that the text names. */
const DRAWN = 10

/** Entities a walker from the seeds meets most; ties by number, which is the order in which they were put. */
export function diffuseIn(
  db: DatabaseSync,
  graph: LoadedGraph,
  { seeds, text, limit }: DiffusionQuery,
): readonly SearchHit[] {
  const find = db.prepare('SELECT node FROM entities WHERE entity_id = ? AND hash IS NOT NULL')
  const places = seeds.flatMap(({ entity_id, weight }) => {
    const row = find.get(entity_id)
    const node = row === undefined ? undefined : placeOf(graph.nodes, Number(row.node))
    return node === undefined ? [] : [{ node, weight }]
  })
  const scores = diffuse(graph.adjacency, places, text === undefined ? undefined : drawnBy(text, graph.predicates))
  return scoredHits(
    db,
    highest(scores, limit).map((place) => ({ node: graph.nodes[place] ?? 0, score: scores[place] ?? 0 })),
  )
}

/** By kind of edge; undefined where the text names none. */
function drawnBy(text: string, predicates: readonly string[]): Float64Array | undefined {
  const stems = parseSearch(text)?.stems
  if (stems === undefined) return undefined
  const named = predicates.map((predicate) => {
    const words = searchWords((predicate.split('.').at(-1) ?? '').replaceAll('_', ' '))
    return words.some(({ stem }) => stems.has(stem))
  })
  return named.some(Boolean) ? Float64Array.from(named, (is) => (is ? DRAWN : 1)) : undefined
}

/** Places of the highest scores above 0, ties by place. Most scores are lower than all that are kept. */
function highest(scores: Float64Array, most: number): readonly number[] {
  const kept: number[] = []
  const scoreAt = (at: number) => scores[kept[at] ?? -1] ?? 0
  let least = 0
  for (const [place, score] of scores.entries()) {
    if (score <= least) continue
    let at = kept.length
    while (at > 0 && scoreAt(at - 1) < score) at -= 1
    kept.splice(at, 0, place)
    if (kept.length > most) kept.pop()
    if (kept.length === most) least = scoreAt(most - 1)
  }
  return kept
}
