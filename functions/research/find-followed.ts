import type { FollowQuery } from '../../shared/graph/search-index.ts'
import { ORIGINS } from '../../shared/research/sub-query.ts'
import type { World } from '../../shared/world.ts'
import { type Found, foundHit } from './found-entity.ts'

/** In tier 0: below what a question names itself (1), above its other neighbours (at most a half). */
const SCORE = 0.9
/** What the index takes. */
const MOST_SEEDS = 100

/** What the relations a question names lead to from what it names: an answer, so it stands before what lies around. */
export async function findFollowed(
  { search: index }: Pick<World, 'search'>,
  tenant: string,
  { seeds, text, limit }: FollowQuery,
): Promise<readonly Found[]> {
  if (seeds.length === 0) return []
  const { hits } = await index.follow(tenant, { seeds: seeds.slice(0, MOST_SEEDS), text, limit })
  return hits.map((hit) => foundHit({ ...hit, score: SCORE }, ORIGINS.relation_walk))
}
