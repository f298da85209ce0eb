import { setTimeout as delay } from 'node:timers/promises'
import { findCandidates, findNamed, type SearchWorld } from '../../../functions/research/candidates.ts'
import { findByRelations, foundHit } from '../../../functions/research/hits.ts'
import { atlasEntities } from '../../../scripts/atlas/atlas-entities.ts'
import { readSources } from '../../../scripts/atlas/sources.ts'
import { meanOf } from '../../../shared/evals/statistics.ts'
import { fuseEvidence } from '../../../shared/research/evidence-ranking.ts'
import { describeSearch } from '../../../shared/research/question/search-hints.ts'
import { countryQuestions, type HopQuestion } from './country-questions.ts'
import { type BenchEntity, openBenchGraph, TENANT } from './open-bench-graph.ts'

/** An answer counts among so many. */
const TOP = 5
/** Questions of a kind, spread over all there are. */
const ASKED = 150
/** Hits of each list that is fused. */
const LIMIT = 20
/** Lexical hits a diffusion begins at where the question names nothing. */
const SEEDS = 5

/** What is found for a question, best first. */
type Finder = (world: SearchWorld, text: string) => Promise<readonly string[]>

const FINDERS: Readonly<Record<string, Finder>> = {
  lexical: async ({ search }, text) => idsOf((await search.search(TENANT, { text, limit: TOP })).hits),
  diffusion: async (world, text) => idsOf(await diffused(world, text)),
  relations: async (world, text) => idsOf((await followed(world, text)).map(({ evidence }) => evidence)),
  async fused(world, text) {
    const { hits } = await world.search.search(TENANT, { text, limit: LIMIT })
    return idsOf(
      fuseEvidence([
        ...hits.map((hit) => ({ list: 0, ...foundHit(hit, { tier: '1', source: 'bm25_index' }) })),
        ...(await diffused(world, text)).map((hit) => ({
          list: 1,
          ...foundHit(hit, { tier: '1', source: 'graph_diffusion' }),
        })),
        ...(await followed(world, text)).map((found) => ({ list: 2, ...found })),
      ]),
    )
  },
  candidates: async (world, text) => idsOf((await findCandidates(world, TENANT, describeSearch(text, {}))).candidates),
}

/** From what the question names, else from what its words find, drawn by what it asks for. */
async function diffused(world: SearchWorld, text: string) {
  const named = await findNamed(world, TENANT, describeSearch(text, {}))
  const { hits } = named.length > 0 ? { hits: [] } : await world.search.search(TENANT, { text, limit: SEEDS })
  const seeds = [...named.map(({ evidence }) => evidence.entity_id), ...idsOf(hits)]
  const weighted = seeds.map((entity_id, rank) => ({ entity_id, weight: named.length > 0 ? 1 : 1 / (rank + 1) }))
  return (await world.search.diffuse(TENANT, { seeds: weighted, text, limit: LIMIT })).hits
}

/** Along the relations the question names, from what it names. */
async function followed(world: SearchWorld, text: string) {
  const { limit } = describeSearch(text, {})
  const named = await findNamed(world, TENANT, { text })
  return findByRelations(world, TENANT, { seeds: named.map(({ evidence }) => evidence.entity_id), text, limit })
}

function idsOf(found: readonly { readonly entity_id: string }[]): readonly string[] {
  return found.map(({ entity_id }) => entity_id)
}

/** How often an answer is among the first five: by words alone, by diffusion, by both, and as the chain classifies. */
export async function printHops(print: (line: string) => void): Promise<void> {
  const sources = readSources()
  const entities: readonly BenchEntity[] = atlasEntities(sources)
  const known = new Map(entities.map((entity) => [entity.entity_id, entity]))
  const capitals = new Map(
    entities.flatMap(({ label, triples = [] }) => {
      const objects = triples.filter(({ predicate }) => predicate === 'geo.country.capital').map(({ object }) => object)
      const [id] = objects.map(String)
      return objects.length === 1 && id !== undefined && known.has(id) ? [[label, id] as const] : []
    }),
  )
  const questions = countryQuestions(sources.countries, ({ name }) => capitals.get(name.common))
  print(`\nCountry graph: ${entities.length} entities, ${questions.length} questions; an answer is in the first ${TOP}`)
  const graph = openBenchGraph()
  try {
    await graph.put(entities)
    await graph.refresh()
    await printKinds({ ...graph, clock: CLOCK, log: QUIET }, questions, print)
  } finally {
    graph.close()
  }
}

const CLOCK: SearchWorld['clock'] = {
  now: () => Date.now(),
  delay: async (ms, signal) => void (await delay(ms, undefined, signal && { signal })),
}
const QUIET = { debug() {}, info() {}, warn() {}, error() {} }

async function printKinds(world: SearchWorld, questions: readonly HopQuestion[], print: (line: string) => void) {
  const names = Object.keys(FINDERS)
  print(`${'kind'.padEnd(26)}${'questions'.padStart(10)}${names.map((name) => name.padStart(12)).join('')}`)
  const rows: (readonly number[])[] = []
  for (const [kind, all] of Map.groupBy(questions, (question) => question.kind)) {
    const step = Math.max(1, Math.ceil(all.length / ASKED))
    const some = all.filter((_, at) => at % step === 0)
    const shares = names.map(() => [] as number[])
    for (const { text, answers } of some) {
      for (const [at, name] of names.entries()) {
        const found = (await FINDERS[name]?.(world, text)) ?? []
        shares[at]?.push(found.slice(0, TOP).some((id) => answers.includes(id)) ? 1 : 0)
      }
    }
    const row = shares.map(meanOf)
    rows.push(row)
    print(line(kind, some.length, row))
  }
  const means = names.map((_, at) => meanOf(rows.map((row) => row[at] ?? 0)))
  print(line('mean of the kinds', rows.length, means))
}

function line(kind: string, many: number, shares: readonly number[]): string {
  return `${kind.padEnd(26)}${String(many).padStart(10)}${shares.map((share) => share.toFixed(3).padStart(12)).join('')}`
}
