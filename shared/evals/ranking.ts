import * as z from 'zod'
import { hasSuffix } from '../graph/entity-id.ts'
import { meanOf, pairedRandomisation } from './statistics.ts'

/** Hits of one question that are looked at. */
export const RANKED = 10
const RECALLED = 5
const MOST_GRADE = 10

const GradedSchema = z.union([
  z.string().min(1).max(256),
  z.strictObject({ id: z.string().min(1).max(256), grade: z.int().min(0).max(MOST_GRADE) }),
])

const LineSchema = z.strictObject({
  question: z.string().regex(/\S/, 'must not be blank').max(4_000),
  relevant: z.array(GradedSchema).min(1).max(1_000),
})

/** A question and what should be found. */
export interface RankingQuestion {
  readonly question: string
  /** Grades by id, higher is better; what is not named, or has 0, is irrelevant. */
  readonly relevant: ReadonlyMap<string, number>
}

/** One line of the file `sluice graph eval` reads, or what is wrong with it. */
export function readRankingQuestion(line: string): RankingQuestion | { readonly wrong: string } {
  const read = LineSchema.safeParse(readJson(line))
  if (!read.success) return { wrong: z.prettifyError(read.error).replaceAll('\n', ' ') }
  const { question, relevant } = read.data
  const graded = relevant.map((one) => (typeof one === 'string' ? { id: one, grade: 1 } : one))
  const twice = graded.find(({ id }, at) => graded.findIndex((other) => other.id === id) !== at)
  if (twice !== undefined) return { wrong: `"${twice.id}" stands there twice` }
  const good = graded.filter(({ grade }) => grade > 0)
  if (good.length === 0) return { wrong: 'every grade is 0: nothing is relevant' }
  return { question, relevant: new Map(good.map(({ id, grade }) => [id, grade])) }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * What was found, each hit by the id the question has for it: an entity id, or the end of one from a dot on. An id of the
 * question stands for its first hit only.
 */
export function namedHits(found: readonly string[], relevant: RankingQuestion['relevant']): readonly string[] {
  const left = new Set(relevant.keys())
  return found.map((entity_id) => {
    const named = [...left].find((id) => entity_id === id || hasSuffix(entity_id, id))
    if (named === undefined) return entity_id
    left.delete(named)
    return named
  })
}

/** Of one question, each from 0 to 1. */
export interface RankingMeasures {
  readonly ndcg_at_10: number
  readonly recall_at_5: number
  /** One over the rank of the first relevant hit; 0: none among the first ten. */
  readonly mrr_at_10: number
}

export function measureRanking(found: readonly string[], relevant: RankingQuestion['relevant']): RankingMeasures {
  const first = found.slice(0, RANKED).findIndex((id) => relevant.has(id))
  return {
    ndcg_at_10: ndcg(found, relevant),
    recall_at_5: recallAt(found, relevant, RECALLED),
    mrr_at_10: first < 0 ? 0 : 1 / (first + 1),
  }
}

/** Normalised discounted cumulative gain, gain 2^grade - 1 (Järvelin and Kekäläinen 2002; Burges 2005). */
export function ndcg(found: readonly string[], relevant: RankingQuestion['relevant']): number {
  const gain = (grades: readonly number[]) =>
    grades.slice(0, RANKED).reduce((sum, grade, at) => sum + (2 ** grade - 1) / Math.log2(at + 2), 0)
  const ideal = gain([...relevant.values()].toSorted((a, b) => b - a))
  return gain(found.map((id) => relevant.get(id) ?? 0)) / ideal
}

/** Of what is relevant, how much is among the first so many. */
export function recallAt(found: readonly string[], relevant: RankingQuestion['relevant'], most: number): number {
  return found.slice(0, most).filter((id) => relevant.has(id)).length / relevant.size
}

/** A ranking by its hits of each question, in the order of the questions. */
export interface Ranking {
  readonly name: string
  readonly found: readonly (readonly string[])[]
}

export interface RankingRow extends RankingMeasures {
  readonly name: string
  /** nDCG@10 of this less that of the first, and how likely so large a difference is by chance; absent of the first. */
  readonly against?: { readonly difference: number; readonly p: number }
}

/** Rankings of the same questions, each beside the first. */
export function compareRankings(
  questions: readonly RankingQuestion[],
  rankings: readonly Ranking[],
): readonly RankingRow[] {
  const measured = rankings.map((one) => ({ name: one.name, of: measuresOf(questions, one) }))
  const first = measured[0]?.of.map(({ ndcg_at_10 }) => ndcg_at_10) ?? []
  return measured.map(({ name, of }, at) => {
    const values = of.map(({ ndcg_at_10 }) => ndcg_at_10)
    const row = {
      name,
      ndcg_at_10: meanOf(values),
      recall_at_5: meanOf(of.map(({ recall_at_5 }) => recall_at_5)),
      mrr_at_10: meanOf(of.map(({ mrr_at_10 }) => mrr_at_10)),
    }
    if (at === 0) return row
    return { ...row, against: { difference: meanOf(values) - meanOf(first), p: pairedRandomisation(values, first) } }
  })
}

function measuresOf(questions: readonly RankingQuestion[], { found }: Ranking): readonly RankingMeasures[] {
  return questions.map(({ relevant }, at) => measureRanking(namedHits(found[at] ?? [], relevant), relevant))
}

/** Where chance is ruled out. */
const SIGNIFICANT = 0.05
/** With fewer a half says nothing. */
const LEAST_QUESTIONS = 20

/** The same questions ranked with embeddings counting so much; 0: without them. */
export interface WeightedRanking extends Ranking {
  readonly weight: number
}

export interface ChosenWeight {
  readonly weight: number
  readonly because: string
}

/**
 * How much embeddings should count. The weight is chosen on every other question and judged on the rest: it is only
 * named where those are significantly better than without. Where what is set now is significantly worse than without, 0.
 * Else what is set stays.
 */
export function chooseWeight(
  questions: readonly RankingQuestion[],
  weighted: readonly WeightedRanking[],
  now: number,
): ChosenWeight {
  if (questions.length < LEAST_QUESTIONS) {
    return {
      weight: now,
      because: `${questions.length} questions are too few to choose by: at least ${LEAST_QUESTIONS} are needed`,
    }
  }
  const values = new Map(
    weighted.map((one) => [one.weight, measuresOf(questions, one).map(({ ndcg_at_10 }) => ndcg_at_10)]),
  )
  const without = values.get(0) ?? []
  const set = values.get(now) ?? without
  const harm = meanOf(set) - meanOf(without)
  if (harm < 0 && pairedRandomisation(set, without) < SIGNIFICANT) {
    return { weight: 0, because: `with ${now} the ranking is worse than without (${signed(harm)} nDCG@10)` }
  }
  const half = (of: readonly number[], which: 0 | 1) => of.filter((_, at) => at % 2 === which)
  const [best = { weight: now, chosen: 0 }] = [...values]
    .map(([weight, of]) => ({ weight, chosen: meanOf(half(of, 0)) }))
    .toSorted((a, b) => b.chosen - a.chosen || a.weight - b.weight)
  const judged = half(values.get(best.weight) ?? [], 1)
  const gain = meanOf(judged) - meanOf(half(without, 1))
  const p = pairedRandomisation(judged, half(without, 1))
  const seen = `chosen on every other question; on the rest it is ${signed(gain)} nDCG@10 against without (p ${p.toPrecision(2)})`
  if (best.weight > 0 && gain > 0 && p < SIGNIFICANT) return { weight: best.weight, because: seen }
  return { weight: now, because: `no weight is shown to help: ${best.weight} ${seen}` }
}

function signed(difference: number): string {
  return `${difference < 0 ? '-' : '+'}${Math.abs(difference).toFixed(3)}`
}
