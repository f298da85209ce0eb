import type { DatabaseSync } from 'node:sqlite'
import { personalisedPageRank } from '../../shared/graph/page-rank.ts'
import type { SearchHit, SearchQuery } from '../../shared/graph/search-index.ts'
import { goOnward } from './go-onward.ts'
import { drawnBy, highest, seedPlaces } from './graph-walks.ts'
import type { LoadedGraph } from './load-graph.ts'
import { filterSql, parseSearch } from './passage-query.ts'
import { type Ranking, rankByWords, scoredHits, showHit } from './search.ts'

/** Best hits of the words a walker starts at, beside what is named. */
const BEST = 3
/** How much sooner he starts at what the words fit better: what fits half as well is started at one time in 64. */
const SHARPNESS = 6
/** Of something named, where the best hit of the words has 1. */
const NAMED = 2
/** Of where a walker comes to, where what the words fit best has 1: links decide, and words between what is linked alike. */
const LINKED = 3
/** Places he comes to that are looked at. */
const MOST_WALKED = 200

/**
 * The hits of a text's words and what they and the named things are linked to, as one ranking: how well the words fit
 * (1 for the best), and three times the root of how often a walker comes by (1 for where he is most) (docs/adr/0081).
 */
export function searchLinked(
  db: DatabaseSync,
  graph: LoadedGraph,
  query: SearchQuery & { readonly named: readonly string[] },
  all: () => number,
): readonly SearchHit[] {
  const search = parseSearch(query.text ?? '')
  if (search === undefined) return []
  const ranking = rankByWords(db, search, query, all)
  const worded = bestOf(ranking)
  const walked = walkFrom(db, graph, query, worded)
  const passing = filterNodes(db, query, [...walked.keys()])
  const nodes = new Set([...worded.keys(), ...passing])
  const most = Math.max(...walked.values())
  const scores = [...nodes].map((node) => {
    const linked = Math.sqrt((walked.get(node) ?? 0) / most) * LINKED
    return { node, score: (worded.get(node)?.score ?? 0) + (Number.isFinite(linked) ? linked : 0) }
  })
  const sorted = scores.toSorted(byScore)
  const onward = query.onward === true ? goOnward(db, ranking, query, sorted, all) : new Map()
  const best = addScores(sorted, onward).toSorted(byScore).slice(0, query.limit)
  return best.flatMap((place) => {
    const at = worded.get(place.node)?.at
    if (at !== undefined) return showHit(db, ranking, { ...place, at })
    const found = onward.get(place.node)
    if (found !== undefined) return showHit(db, found.ranking, { ...place, at: found.at })
    return scoredHits(db, [place]).map((hit) => ({ ...hit, linked: true as const }))
  })
}

interface Scored {
  readonly node: number
  readonly score: number
}

function byScore(a: Scored, b: Scored): number {
  return b.score - a.score || a.node - b.node
}

/** In parts of the best score. */
function addScores(
  scores: readonly Scored[],
  more: ReadonlyMap<number, { readonly score: number }>,
): readonly Scored[] {
  if (more.size === 0) return scores
  const most = scores[0]?.score || 1
  const all = new Map(scores.map(({ node, score }) => [node, score / most]))
  for (const [node, { score }] of more) all.set(node, (all.get(node) ?? 0) + score)
  return [...all].map(([node, score]) => ({ node, score }))
}

interface Worded {
  /** Place of the best passage among those that were found. */
  readonly at: number
  /** 1 for the best. */
  readonly score: number
}

function bestOf({ ranked }: Ranking): ReadonlyMap<number, Worded> {
  const most = ranked[0]?.score || 1
  const best = new Map<number, Worded>()
  for (const { at, node, score } of ranked) if (!best.has(node)) best.set(node, { at, score: score / most })
  return best
}

/** How often a walker is where, by node; only the places he comes to most. */
function walkFrom(
  db: DatabaseSync,
  graph: LoadedGraph,
  { text = '', named }: { readonly text?: string; readonly named: readonly string[] },
  worded: ReadonlyMap<number, Worded>,
): ReadonlyMap<number, number> {
  const first = [...worded].slice(0, BEST).map(([node, { score }]) => ({ node, weight: score ** SHARPNESS }))
  const starts = seedPlaces(
    db,
    graph,
    named.map((entity_id) => ({ entity_id, weight: NAMED })),
    first,
  )
  const scores = personalisedPageRank(graph.adjacency, starts, {
    drawn: drawnBy(text, graph.predicateWords),
    damped: true,
  })
  return new Map(highest(scores, MOST_WALKED).map((place) => [graph.nodes[place] ?? 0, scores[place] ?? 0]))
}

/** Those that pass the filter of the query. */
function filterNodes(db: DatabaseSync, { filter }: SearchQuery, nodes: readonly number[]): readonly number[] {
  const { condition, values } = filterSql(filter)
  const passes = db.prepare(`SELECT e.node FROM entities e WHERE e.node = ? AND ${condition}`)
  return nodes.filter((node) => passes.get(node, ...values) !== undefined)
}
