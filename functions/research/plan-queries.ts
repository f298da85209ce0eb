import { decomposeQueries } from '../../shared/research/decompose-queries.ts'
import { resolveSeeds, type SeedLookup } from '../../shared/research/resolve-seeds.ts'
import { parseDecomposeArgs, parseWalkSeedsArgs } from '../../shared/research/route-args.ts'
import type { RouteDecision } from '../../shared/research/route-decision.ts'
import { routeByDefault } from '../../shared/research/route-rules.ts'
import type { SubQuery } from '../../shared/research/sub-query.ts'
import { walkQueries } from '../../shared/research/walk-queries.ts'
import type { StageCall } from './stage-call.ts'

interface Plan {
  readonly queries: readonly SubQuery[]
  /** Entities a walk begins at. */
  readonly seeds: readonly string[]
  readonly degraded: readonly string[]
}

/** What runs now: what the assessor asked for, else what the router's decision stands for. */
export async function planQueries(call: StageCall): Promise<Plan> {
  const { queries, decision } = call.state
  if (queries.length > 0) return { queries, seeds: [], degraded: [] }
  return decision?.action === 'walk_seeds' ? planWalk(call, decision) : planDecomposition(call, decision)
}

/** References that name nothing or several things are left out; the words of the question are searched all the same. */
async function planWalk({ world, run, state }: StageCall, decision: RouteDecision): Promise<Plan> {
  const args = parseWalkSeedsArgs(decision)
  const seeds = args.ok ? args.value.seeds : []
  const candidates = state.classified?.candidates ?? []
  try {
    const { entity_ids, note } = await resolveSeeds(seeds, candidates, lookupIn(world, run.tenant))
    return {
      queries: walkQueries(state.topic, entity_ids),
      seeds: entity_ids,
      degraded: note === undefined ? [] : [note],
    }
  } catch (error) {
    world.log.error('seeds could not be looked up', { run_id: run.run_id, error: String(error) })
    return { queries: walkQueries(state.topic, []), seeds: [], degraded: ['the seeds could not be looked up'] }
  }
}

function lookupIn({ search }: StageCall['world'], tenant: string): SeedLookup {
  const by = (kind: 'alias' | 'label' | 'suffix') => async (text: string) =>
    (await search.lookup(tenant, kind, text)).entity_ids
  return { byAlias: by('alias'), byLabel: by('label'), bySuffix: by('suffix') }
}

function planDecomposition({ meta, state }: StageCall, decision: RouteDecision | undefined): Plan {
  const named = decision === undefined ? undefined : parseDecomposeArgs(decision)
  const args = named?.ok === true ? named : parseDecomposeArgs(routeByDefault(state.topic))
  const { candidates = [], hints = {} } = state.classified ?? {}
  const asked = args.ok ? args.value : { axes: [], focus: state.topic }
  const { queries, missing } = decomposeQueries(asked, { candidates, hints, now: new Date(meta.created_at) })
  return { queries, seeds: [], degraded: missing.map((axis) => `axis ${axis} had nothing to work with`) }
}
