import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findCandidates } from '../../../functions/research/candidates.ts'
import { openIndexToRead } from '../../../functions/search/index-file.ts'
import { parseSearch } from '../../../functions/search/passage-query.ts'
import type { RankingStages } from '../../../functions/search/rank-passages.ts'
import { rankByWords } from '../../../functions/search/search.ts'
import { ndcg, recallAt } from '../../../shared/evals/ranking.ts'
import { meanOf, pairedRandomisation } from '../../../shared/evals/statistics.ts'
import { describeSearch } from '../../../shared/research/question/search-hints.ts'
import { type Collection, inHalf } from './collection.ts'
import { openAnswerPlace } from './open-answer-place.ts'
import { TENANT } from './open-bench-graph.ts'
import { plainRankers, type Ranker } from './rankers.ts'

/** Hits of each ranking. */
const TOP = 10
/** All that is needed is to be among so many: what a prompt shows in full. */
const SHOWN = 8

/**
 * One collection through the product's own path, stage by stage, beside plain rankings: words alone, with the words the
 * best hits share, with lent scores; then the chain's first search without links and with them, and the evidence it
 * answers from, without refine rounds and with them. p: against the best plain ranking, by nDCG@10 where documents are
 * about a matter and Recall@5 where all passages are needed.
 */
export async function printCollection(collection: Collection, print: (line: string) => void): Promise<void> {
  const { name, documents, queries } = collection
  print(`\n${name}: ${documents.length} documents, ${queries.length} queries`)
  print(['ranking'.padEnd(28), ...COLUMNS.map((column) => column.padStart(10)), 'p'.padStart(10)].join(''))
  const plain = (await plainRankers(collection)).map((ranker) => ({ ranker, isPlain: true }))
  const rows = []
  for await (const { ranker, isPlain } of both(plain, ownRankers(collection))) {
    const seen = await measured(collection, ranker)
    rows.push({ name: ranker.name, isPlain, seen, values: seen.map((one) => one[mainMeasure(collection)]) })
    ranker.close?.()
  }
  const best = rows.filter(({ isPlain }) => isPlain).toSorted((a, b) => meanOf(b.values) - meanOf(a.values))[0]
  for (const { name: ranking, seen, values } of rows) {
    const untouched = seen.filter((_, at) => inHalf(at) === 'untouched')
    const cells = [
      ...MEASURES.map((measure) => meanOf(seen.map((one) => one[measure]))),
      meanOf(untouched.map((one) => one[mainMeasure(collection)])),
    ]
    const p =
      best === undefined || best.values === values ? '' : pairedRandomisation(values, best.values).toExponential(1)
    print([ranking.padEnd(28), ...cells.map((cell) => cell.toFixed(3).padStart(10)), p.padStart(10)].join(''))
  }
}

const MEASURES = ['ndcg', 'binary', 'two', 'five', 'all'] as const
const COLUMNS = ['nDCG@10', 'binary', 'Recall@2', 'Recall@5', `all in ${SHOWN}`, 'untouched']

function mainMeasure({ kind }: Collection): 'binary' | 'five' {
  return kind === 'hops' ? 'five' : 'binary'
}

async function measured({ queries }: Collection, { find }: Ranker) {
  const seen = []
  for (const { text, relevant } of queries) {
    const found = await find(text)
    const binary = new Map([...relevant.keys()].map((id) => [id, 1]))
    seen.push({
      ndcg: ndcg(found, relevant),
      binary: ndcg(found, binary),
      two: recallAt(found, relevant, 2),
      five: recallAt(found, relevant, 5),
      all: recallAt(found, relevant, SHOWN) === 1 ? 1 : 0,
    })
  }
  return seen
}

interface Own {
  readonly ranker: Ranker
  readonly isPlain: boolean
}

async function* both(first: readonly Own[], second: AsyncIterable<Own>): AsyncGenerator<Own> {
  yield* first
  yield* second
}

/** Of the place as it is, each while it is open. */
async function* ownRankers(collection: Collection): AsyncGenerator<Own> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    for (const links of [false, true]) {
      const place = await openAnswerPlace(join(folder, String(links)), { links })
      await place.import(entitiesOf(collection))
      await place.index()
      const rankers = links ? linkedRankers(place) : [candidates('first search, no links', place)]
      for (const ranker of rankers) yield { ranker, isPlain: false }
      const copy = join(folder, `${links}.db`)
      await place.close(copy)
      if (!links) for (const ranker of stageRankers(copy)) yield { ranker, isPlain: false }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Opened = Awaited<ReturnType<typeof openAnswerPlace>>

function linkedRankers(place: Opened): readonly Ranker[] {
  return [
    candidates('first search', place),
    evidence('evidence, no refine rounds', place, 0),
    evidence('evidence', place, undefined),
  ]
}

function candidates(name: string, { world }: Opened): Ranker {
  return {
    name,
    find: async (text) => idsOf((await findCandidates(world, TENANT, describeSearch(text, {}))).candidates),
  }
}

function evidence(name: string, place: Opened, rounds: number | undefined): Ranker {
  return { name, find: async (text) => idsOf((await place.answer(text, rounds)).result?.evidence ?? []) }
}

const STAGES: Readonly<Record<string, RankingStages>> = {
  'words alone': { shared: false, lent: false },
  'with shared words': { shared: true, lent: false },
  search: { shared: true, lent: true },
}

/** What `sluice graph search` does, stage by stage. */
function stageRankers(file: string): readonly Ranker[] {
  const db = openIndexToRead(file)
  if (db === undefined) throw new Error(`Cannot read the index "${file}".`)
  const id = db.prepare('SELECT entity_id FROM entities WHERE node = ?')
  const all = Number(db.prepare('SELECT count(*) AS n FROM words_docsize').get()?.n ?? 0)
  return Object.entries(STAGES).map(([name, stages]) => ({
    name,
    find: async (text) => {
      const search = parseSearch(text)
      if (search === undefined) return []
      const { ranked } = rankByWords(db, search, { limit: TOP }, () => all, stages)
      const nodes = [...new Set(ranked.map(({ node }) => node))].slice(0, TOP)
      return nodes.map((node) => lastSegment(String(id.get(node)?.entity_id ?? '')))
    },
  }))
}

/** An entity's own preview ends here; what is longer is its body. */
const SNIPPET = 2_000

/** Documents are entities with a label and their text. */
function entitiesOf({ documents }: Collection) {
  return documents.map(({ id, title, text }) => ({
    entity_id: `bench.test.text.collection.document.${id}`,
    ...(title === '' ? {} : { label: title.slice(0, 500) }),
    ...(text.length > SNIPPET ? { body: text } : { snippet: text }),
  }))
}

function idsOf(found: readonly { readonly entity_id: string }[]): readonly string[] {
  return found.map(({ entity_id }) => lastSegment(entity_id)).slice(0, TOP)
}

function lastSegment(entity_id: string): string {
  return entity_id.split('.').at(-1) ?? ''
}
