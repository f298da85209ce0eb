import { hasSuffix } from '../graph/match-entity-id.ts'
import type { Candidate } from './candidate.ts'
import type { SeedRef } from './route-args.ts'
import type { SeedRefType } from './seed-ref-type.ts'

/** What the index is asked; names come trimmed and in small letters. Opaque triples give neither labels nor aliases. */
export interface SeedLookup {
  byAlias(name: string): Promise<readonly string[]>
  byLabel(name: string): Promise<readonly string[]>
  /** Ids that end in the part, on a segment boundary. */
  bySuffix(part: string): Promise<readonly string[]>
}

/**
 * Entity ids of a router's references, in its order and without repeats. A reference that names nothing or several
 * things is dropped and counted: `note` is then the degraded reason.
 */
export async function resolveSeeds(
  seeds: readonly SeedRef[],
  candidates: readonly Candidate[],
  lookup: SeedLookup,
): Promise<{ readonly entity_ids: readonly string[]; readonly unresolved: number; readonly note?: string }> {
  const found = await Promise.all(seeds.map(({ ref, ref_type }) => RESOLVERS[ref_type](ref.trim(), candidates, lookup)))
  const entity_ids = [...new Set(found.filter((id) => id !== undefined))]
  const unresolved = found.filter((id) => id === undefined).length
  return { entity_ids, unresolved, ...(unresolved === 0 ? {} : { note: `${unresolved} seed references unresolved` }) }
}

type Resolver = (ref: string, candidates: readonly Candidate[], lookup: SeedLookup) => Promise<string | undefined>

const RESOLVERS: Readonly<Record<SeedRefType, Resolver>> = {
  async name(ref, candidates, lookup) {
    const wanted = ref.toLowerCase()
    const labelled = candidates.filter(({ label }) => label?.trim().toLowerCase() === wanted)
    return await firstOf([
      async () => labelled.map(({ entity_id }) => entity_id),
      () => lookup.byAlias(wanted),
      () => lookup.byLabel(wanted),
    ])
  },
  async partial_id(ref, candidates, lookup) {
    const ids = candidates.map(({ entity_id }) => entity_id)
    return await firstOf([async () => ids.filter((id) => hasSuffix(id, ref)), () => lookup.bySuffix(ref)])
  },
  async candidate_index(ref, candidates) {
    return /^\d{1,9}$/.test(ref) ? candidates[Number(ref)]?.entity_id : undefined
  },
}

/** The first place that knows the reference decides; two entities there are no answer, and no later place is asked. */
async function firstOf(places: readonly (() => Promise<readonly string[]>)[]): Promise<string | undefined> {
  for (const ask of places) {
    const ids = new Set(await ask())
    if (ids.size > 0) return ids.size === 1 ? [...ids][0] : undefined
  }
  return undefined
}
