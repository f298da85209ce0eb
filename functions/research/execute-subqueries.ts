import { Fault } from '../../shared/errors.ts'
import { BATCH } from '../../shared/graph/graph-store.ts'
import type { LookupKind } from '../../shared/graph/search-index.ts'
import { fuseEvidence, type Hit, trimEvidence } from '../../shared/research/evidence-ranking.ts'
import {
  parseDecomposeArgs,
  parseWalkSeedsArgs,
  type RouteDecision,
  routeByDefault,
} from '../../shared/research/payloads/route-decision.ts'
import { describeSearch } from '../../shared/research/question/search-hints.ts'
import {
  decomposeQueries,
  distinctQueries,
  ORIGINS,
  PARALLEL_SUB_QUERIES,
  resolveSeeds,
  type SeedLookup,
  type SubQuery,
  walkQueries,
} from '../../shared/research/sub-queries.ts'
import { findByWords, type SearchWorld, spellText } from './candidates.ts'
import { type Found, findByRelations, foundEntity, foundHit, stateScore, withinTime } from './hits.ts'
import { createSemanticReranker, type SemanticReranker } from './semantic-rerank.ts'
import { NO_TIME, type StageCall, type StageOutcome, timeLeft, toPlainAnswer } from './stage-call.ts'
import { stageHandler } from './stage-handler.ts'

/** Runs the sub-queries of this round and fuses what they found with what earlier rounds found. No language model is asked. */
export const handler = stageHandler('execute_subqueries', execute)

async function execute(call: StageCall): Promise<StageOutcome> {
  const { world, run, state } = call
  if (timeLeft(call) <= 0) return toPlainAnswer(NO_TIME)
  const plan = await spelt(call, await planQueries(call))
  const filter = describeSearch(state.topic, state.classified?.hints ?? {})
  const from = state.sub_queries.length
  const round = state.counters.iterations
  const near = createSemanticReranker(call)
  const ran = await runSubQueries(world, run.tenant, plan.queries, { from, round, filter, near })
  const hits = [...state.hits, ...ran.hits]
  const { evidence, tokens } = trimEvidence(fuseEvidence(hits, near?.weight), state.intent.budget_tokens)
  const action = state.decision?.action
  const degraded = [...plan.degraded, ...ran.degraded]
  const execution = {
    topic: state.topic,
    ...(action === undefined ? {} : { action }),
    subquery_count: plan.queries.length,
    budget_tokens_used: tokens,
    // Without a decision there is no action to name: then it is a degraded output.
    ...(degraded.length === 0 && action !== undefined ? {} : { degraded: true, degraded_reason: degraded.join('; ') }),
  }
  return {
    change: {
      hits,
      evidence: [...evidence],
      execution,
      queries: [],
      sub_queries: [...state.sub_queries, ...plan.queries],
      seed_entities: [...new Set([...state.seed_entities, ...plan.seeds])],
    },
    next: 'assess_sufficiency',
    degraded,
    said: { ...(action === undefined ? {} : { action }), found: evidence.length },
  }
}

interface Plan {
  readonly queries: readonly SubQuery[]
  /** Entities a walk begins at. */
  readonly seeds: readonly string[]
  readonly degraded: readonly string[]
}

/** What runs now: what the assessor asked for, else what the router's decision stands for. */
async function planQueries(call: StageCall): Promise<Plan> {
  const { queries, decision } = call.state
  if (queries.length > 0) return { queries, seeds: [], degraded: [] }
  return decision?.action === 'walk_seeds' ? planWalk(call, decision) : planDecomposition(call, decision)
}

/** Words that nothing has are looked for as the only name next to them, as the question's are; that is told. */
async function spelt({ world, run }: StageCall, plan: Plan): Promise<Plan> {
  const texts = [...new Set(plan.queries.flatMap((query) => ('text' in query ? [query.text] : [])))]
  const spelling = new Map(
    await Promise.all(texts.map(async (text) => [text, await spellText(world, run.tenant, text)] as const)),
  )
  const queries = plan.queries.map((query) =>
    'text' in query ? { ...query, text: spelling.get(query.text)?.text ?? query.text } : query,
  )
  const told = [...spelling.values()].flatMap((one) => one.told)
  return { ...plan, queries: distinctQueries(queries), degraded: [...new Set([...plan.degraded, ...told])] }
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
  const by = (kind: LookupKind) => async (text: string) => (await search.lookup(tenant, kind, text)).entity_ids
  const written = by('written')
  // What has the label as it stands comes before what is only written otherwise.
  const byLabel = async (text: string) => {
    const labelled = await by('label')(text)
    return labelled.length > 0 ? labelled : await written(text)
  }
  return { byAlias: by('alias'), byLabel, bySuffix: by('suffix') }
}

function planDecomposition({ meta, state }: StageCall, decision: RouteDecision | undefined): Plan {
  const named = decision === undefined ? undefined : parseDecomposeArgs(decision)
  const args = named?.ok === true ? named : parseDecomposeArgs(routeByDefault(state.topic))
  const { candidates = [], hints = {} } = state.classified ?? {}
  const asked = args.ok ? args.value : { axes: [], focus: state.topic }
  const { queries, missing } = decomposeQueries(asked, { candidates, hints, now: new Date(meta.created_at) })
  return { queries, seeds: [], degraded: missing.map((axis) => `axis ${axis} had nothing to work with`) }
}

/** Of one sub-query. */
const SUB_QUERY_MS = 10_000

interface Ran {
  readonly hits: readonly Hit[]
  /** One line a sub-query that failed. */
  readonly degraded: readonly string[]
}

/** What the hints say of the entities a text may find. */
type TextFilter = { readonly type?: string | undefined; readonly domain?: string | undefined }

interface Running {
  /** Sub-queries that ran before. */
  readonly from: number
  /** Refine rounds that were done. */
  readonly round: number
  readonly filter: TextFilter
  readonly near?: SemanticReranker | undefined
}

/**
 * Runs sub-queries, eight at once, each with its own time. One that fails degrades the answer and stops no other. `from`
 * is the number of those that ran before: a hit knows its list by it.
 */
async function runSubQueries(
  world: SearchWorld,
  tenant: string,
  queries: readonly SubQuery[],
  { from, round, filter, near }: Running,
): Promise<Ran> {
  const found: (readonly Found[])[] = []
  const degraded: string[] = []
  let next = 0
  const worker = async () => {
    for (let at = next++; at < queries.length; at = next++) {
      const query = queries[at]
      if (query === undefined) return
      try {
        found[at] = await withinTime(world.clock, SUB_QUERY_MS, `sub-query ${query.kind}`, () =>
          runOne(world, tenant, widened(query, near), filter),
        )
      } catch (error) {
        world.log.error('a sub-query failed', { kind: query.kind, error: String(error) })
        degraded.push(`sub-query ${query.kind} failed: ${error instanceof Fault ? error.code : 'unexpected'}`)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL_SUB_QUERIES, queries.length) }, worker))
  const hits: Hit[] = []
  for (const [at, query] of queries.entries()) {
    const meant = await meantBy(query, found[at] ?? [], near)
    if (meant.degraded !== undefined) degraded.push(meant.degraded)
    hits.push(...[...cut(query, found[at] ?? []), ...meant.found].map((one) => hitOf(one, from + at, round)))
  }
  return { hits, degraded: [...new Set(degraded)].sort() }
}

/** Of more lexical hits than are wanted the first are those of the words, and all of them are ranked by meaning. */
function widened(query: SubQuery, near: SemanticReranker | undefined): SubQuery {
  if (query.kind !== 'lexical' || near === undefined) return query
  return { ...query, limit: Math.max(query.limit, near.most) }
}

function cut(query: SubQuery, found: readonly Found[]): readonly Found[] {
  return query.kind === 'lexical' ? found.slice(0, query.limit) : found
}

/** Another list of the same sub-query. */
async function meantBy(query: SubQuery, found: readonly Found[], near: SemanticReranker | undefined) {
  if (query.kind !== 'lexical' || near === undefined) return { found: [] }
  const { found: ranked, degraded } = await near.rank(query.text, found)
  return { found: ranked.slice(0, query.limit), degraded }
}

function hitOf({ evidence, recorded_at }: Found, list: number, round: number): Hit {
  return { evidence, list, ...(round === 0 ? {} : { round }), ...(recorded_at === undefined ? {} : { recorded_at }) }
}

function runOne(world: SearchWorld, tenant: string, query: SubQuery, filter: TextFilter): Promise<readonly Found[]> {
  const run: Runners[SubQuery['kind']] = RUNNERS[query.kind]
  // The runner of a kind is given the sub-queries of that kind.
  return (run as (...given: unknown[]) => Promise<readonly Found[]>)(world, tenant, query, filter)
}

type Runners = {
  readonly [K in SubQuery['kind']]: (
    world: SearchWorld,
    tenant: string,
    query: Extract<SubQuery, { kind: K }>,
    filter: TextFilter,
  ) => Promise<readonly Found[]>
}

const RUNNERS: Runners = {
  lexical(world, tenant, { text, limit }, { type, domain }) {
    const filter = { ...(type === undefined ? {} : { type }), ...(domain === undefined ? {} : { domain }) }
    return findByWords(world, tenant, { text, filter, onward: true, limit })
  },
  async entity_state({ graph }, tenant, { entity_id, rank }) {
    const entity = await graph.entity(tenant, entity_id)
    return entity === undefined ? [] : [foundEntity(entity, ORIGINS.entity_state, stateScore(rank))]
  },
  async temporal_range({ search }, tenant, { from, to, text, limit }) {
    const { hits } = await search.search(tenant, { text, filter: { time_range: { from, to } }, limit })
    return hits.map((hit) => foundHit(hit, ORIGINS.temporal_range))
  },
  async spatial({ search }, tenant, { north, south, east, west, limit }) {
    const { hits } = await search.search(tenant, { filter: { geo_bounds: { north, south, east, west } }, limit })
    return hits.map((hit) => foundHit(hit, ORIGINS.spatial))
  },
  async predicate_walk({ graph }, tenant, { entity_id, depth, limit }) {
    const met = await graph.neighbours(tenant, { entity_id, direction: 'both', depth, limit })
    const near = met.entities.slice(0, Math.min(limit, BATCH))
    const hops = new Map(near.map((entity) => [entity.entity_id, entity.depth]))
    const entities = await graph.entities(tenant, [...hops.keys()])
    return entities.map((entity) =>
      foundEntity(entity, ORIGINS.predicate_walk, 1 / (1 + (hops.get(entity.entity_id) ?? depth))),
    )
  },
  relation_walk: (world, tenant, query) => findByRelations(world, tenant, query),
  graph_diffusion: (world, tenant, { seeds, text, limit }) =>
    findByWords(world, tenant, { text, named: seeds, onward: true, limit }),
}
