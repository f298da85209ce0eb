import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { GRAPH_ROUTES } from '../../../shared/api/graph-routes.ts'
import { PLACE_ROUTES } from '../../../shared/api/place-routes.ts'
import {
  type ChosenWeight,
  chooseWeight,
  compareRankings,
  namedHits,
  RANKED,
  type Ranking,
  type RankingQuestion,
  type RankingRow,
  readRankingQuestion,
  type WeightedRanking,
} from '../../../shared/evals/ranking.ts'
import { refuseEntityId } from '../../../shared/graph/entity-id.ts'
import { splitLines } from '../../../shared/text/split-lines.ts'
import { awaitResearch, startResearch } from '../research/ask.ts'
import { callApi, callWithRetries, chooseTarget, type Target } from '../server/api.ts'
import { readablePath } from '../terminal/files.ts'
import { count } from '../terminal/format.ts'
import type { TargetOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { displayWidth, jsonText, oneLine } from '../terminal/text.ts'

interface EvalOptions extends TargetOptions {
  readonly answers?: true
  readonly budget?: number
}

interface Evaluation {
  readonly questions: number
  /** The first is what words alone find: the others are held against it. */
  readonly rankings: readonly RankingRow[]
  /** Of embeddings, where the place has them and answers were asked for. */
  readonly embeddings?: {
    readonly set: number
    readonly rankings: readonly RankingRow[]
    readonly chosen: ChosenWeight
  }
  /** Relevant ids that no ranking had among its first ten, and those of them the graph has not. */
  readonly never_found: number
  readonly not_there: readonly string[]
}

/** `sluice graph eval FILE`: changes nothing in the graph, nor in the settings. */
export async function evalGraph(session: Session, file: string, options: EvalOptions): Promise<void> {
  const questions = await readQuestions(file)
  const target = chooseTarget(session, options.url)
  const set = (await configOf(target)).research.embeddings?.weight
  const asker = { target, note: (why: string) => session.warn(why) }
  const plain = [
    await rankAll('words', questions, (question) => searchIds(asker, question, 'words')),
    await rankAll('words and links', questions, (question) => searchIds(asker, question, 'linked')),
  ]
  const weighted = options.answers === true ? await rankAnswers(asker, questions, weightsOf(set), options.budget) : []
  const rankings = [...plain, ...weighted.filter(({ weight }) => weight === (set ?? 0))]
  const all = [...plain, ...weighted]
  const evaluation: Evaluation = {
    questions: questions.length,
    rankings: compareRankings(questions, rankings),
    ...(set !== undefined && weighted.length > 0 ? { embeddings: compareWeights(questions, weighted, set) } : {}),
    ...(await missing(asker, questions, all)),
  }
  if (options.json === true) session.say(jsonText(evaluation, 2))
  else for (const line of evaluationLines(evaluation, set !== undefined && options.answers !== true)) session.say(line)
}

async function readQuestions(file: string): Promise<readonly RankingQuestion[]> {
  const pieces = file === '-' ? process.stdin : createReadStream(readablePath(file, 'the file'))
  const questions: RankingQuestion[] = []
  let number = 0
  for await (const line of splitLines(pieces.setEncoding('utf8'))) {
    number += 1
    if (line.trim() === '') continue
    const read = readRankingQuestion(line)
    if ('wrong' in read) throw wrongLine(file, number, read.wrong)
    questions.push(read)
  }
  if (questions.length === 0) throw wrongLine(file, number, 'it has no question')
  return questions
}

function wrongLine(file: string, number: number, wrong: string): Refused {
  const detail = `Cannot read line ${number} of "${file}": ${oneLine(wrong)}. A line is {"question": "..", "relevant": ["entity id", {"id": "..", "grade": 2}]}; grades are 0 to 10, without one it is 1.`
  return new Refused({ code: 'malformed_line', detail }, { exitCode: 2 })
}

interface Asker {
  readonly target: Target
  note(why: string): void
}

async function configOf(target: Target) {
  const answer = PLACE_ROUTES['get-config'].answer.loose()
  return (await callApi(target, answer, (api) => api.GET('/api/config'))).config
}

/** One after the other: a place has other work too. */
async function rankAll(
  name: string,
  questions: readonly RankingQuestion[],
  find: (question: string) => Promise<readonly string[]>,
): Promise<Ranking> {
  const found: (readonly string[])[] = []
  for (const { question } of questions) found.push(await find(question))
  return { name, found }
}

async function searchIds({ target, note }: Asker, q: string, ranking: 'words' | 'linked'): Promise<readonly string[]> {
  const query = { q, ranking, limit: RANKED }
  const { hits } = await callWithRetries(
    () =>
      callApi(target, GRAPH_ROUTES['search-graph'].answer.loose(), (api) =>
        api.GET('/api/graph/search', { params: { query } }),
      ),
    { note },
  )
  return hits.map(({ entity_id }) => entity_id)
}

/** What embeddings may count, beside what is set. */
const WEIGHTS = [0, 0.1, 0.25, 0.5, 1]

function weightsOf(set: number | undefined): readonly number[] {
  return set === undefined ? [0] : [...new Set([...WEIGHTS, set])].toSorted((a, b) => a - b)
}

/** The evidence of whole answers, each asked once a weight. */
async function rankAnswers(
  asker: Asker,
  questions: readonly RankingQuestion[],
  weights: readonly number[],
  budget_tokens: number | undefined,
): Promise<readonly WeightedRanking[]> {
  const rankings: WeightedRanking[] = []
  for (const weight of weights) {
    const name = weight === 0 ? 'evidence' : `evidence, embeddings ${weight}`
    const ranking = await rankAll(name, questions, (topic) =>
      evidenceIds(asker, {
        topic,
        embeddings_weight: weight,
        ...(budget_tokens !== undefined && { budget_tokens }),
      }),
    )
    rankings.push({ ...ranking, weight })
  }
  return rankings
}

async function evidenceIds(
  { target, note }: Asker,
  question: Parameters<typeof startResearch>[1],
): Promise<readonly string[]> {
  const key = randomUUID()
  const runId = await callWithRetries(() => startResearch(target, question, key), { note })
  const { result } = await awaitResearch(target, runId, { stage: () => {} })
  return (result?.evidence ?? []).map(({ entity_id }) => entity_id).slice(0, RANKED)
}

function compareWeights(questions: readonly RankingQuestion[], weighted: readonly WeightedRanking[], set: number) {
  return { set, rankings: compareRankings(questions, weighted), chosen: chooseWeight(questions, weighted, set) }
}

/** Whole ids only are looked for: the end of one may be that of several. */
async function missing(
  { target, note }: Asker,
  questions: readonly RankingQuestion[],
  rankings: readonly Ranking[],
): Promise<Pick<Evaluation, 'never_found' | 'not_there'>> {
  const lost = questions.flatMap(({ relevant }, at) => {
    const seen = new Set(rankings.flatMap(({ found }) => namedHits(found[at] ?? [], relevant)))
    return [...relevant.keys()].filter((id) => !seen.has(id))
  })
  const not_there: string[] = []
  for (const id of new Set(lost)) {
    if (refuseEntityId(id) === undefined && !(await callWithRetries(() => isThere(target, id), { note })))
      not_there.push(id)
  }
  return { never_found: lost.length, not_there }
}

async function isThere(target: Target, entity_id: string): Promise<boolean> {
  try {
    await callApi(target, GRAPH_ROUTES['get-entity'].answer.loose(), (api) =>
      api.GET('/api/graph/entities/{entity_id}', { params: { path: { entity_id } } }),
    )
    return true
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return false
    throw error
  }
}

/** Ids that are named. */
const TOLD = 5

function evaluationLines(
  { questions, rankings, embeddings, never_found, not_there }: Evaluation,
  isUnmeasured: boolean,
): readonly string[] {
  const rest = not_there.length > TOLD ? ', ..' : ''
  return [
    count(questions, 'question'),
    ...table(rankings, 'words'),
    'p: paired randomisation of nDCG@10, two-sided, 20000 rounds.',
    ...(embeddings === undefined ? [] : embeddingLines(embeddings)),
    ...(isUnmeasured ? ['Embeddings are set and not in these rankings: --answers measures them.'] : []),
    ...(never_found === 0 ? [] : [`${count(never_found, 'relevant id')} in none of the rankings.`]),
    ...(not_there.length === 0
      ? []
      : [`Not in the graph: ${not_there.slice(0, TOLD).map(oneLine).join(', ')}${rest}.`]),
  ]
}

function embeddingLines({ set, rankings, chosen }: NonNullable<Evaluation['embeddings']>): readonly string[] {
  const { weight, because } = chosen
  const put =
    weight === 0
      ? 'take research.embeddings out of sluice.yaml'
      : `put research: { embeddings: { .., weight: ${weight} } } into sluice.yaml`
  return [
    '',
    ...table(rankings, 'none'),
    weight === set
      ? `Weight ${set} stays: ${because}.`
      : `Weight ${weight}, now ${set}: ${because}. To set it, ${put}.`,
  ]
}

function table(rows: readonly RankingRow[], first: string): readonly string[] {
  const cells = [
    ['', 'nDCG@10', 'Recall@5', 'MRR@10', `against ${first}`, 'p'],
    ...rows.map(({ name, ndcg_at_10, recall_at_5, mrr_at_10, against }) => [
      name,
      ...[ndcg_at_10, recall_at_5, mrr_at_10].map((value) => value.toFixed(3)),
      against === undefined ? '' : `${against.difference < 0 ? '' : '+'}${against.difference.toFixed(3)}`,
      against === undefined ? '' : against.p.toPrecision(2),
    ]),
  ]
  const widths = (cells[0] ?? []).map((_, at) => Math.max(...cells.map((row) => displayWidth(row[at] ?? ''))))
  return cells.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}
