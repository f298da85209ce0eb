import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  chooseWeight,
  compareRankings,
  measureRanking,
  namedHits,
  type RankingQuestion,
  readRankingQuestion,
} from '../../../shared/evals/ranking.ts'

const graded = (grades: Readonly<Record<string, number>>) => new Map(Object.entries(grades))

describe('readRankingQuestion()', () => {
  test('takes ids with and without grades', () => {
    const line = JSON.stringify({ question: 'Who?', relevant: ['a', { id: 'b', grade: 3 }, { id: 'c', grade: 0 }] })
    expect(readRankingQuestion(line)).toEqual({ question: 'Who?', relevant: graded({ a: 1, b: 3 }) })
  })

  test.each([
    ['no JSON', 'x', /expected object/],
    ['a blank question', '{"question":" ","relevant":["a"]}', /must not be blank.*question/],
    ['nothing relevant', '{"question":"q","relevant":[]}', /relevant/],
    ['grades of 0 only', '{"question":"q","relevant":[{"id":"a","grade":0}]}', /nothing is relevant/],
    ['an id twice', '{"question":"q","relevant":["a",{"id":"a","grade":2}]}', /"a" stands there twice/],
    ['another member', '{"question":"q","relevant":["a"],"answer":"b"}', /answer/],
  ])('%s is told', (_, line, words) => {
    const read = readRankingQuestion(line)
    expect('wrong' in read && read.wrong).toMatch(words)
  })
})

describe('measureRanking()', () => {
  // nDCG by hand: gains 2^grade - 1, discounts 1, 1/log2(3), 1/log2(4).
  test.each([
    [['a', 'b'], { a: 1, b: 1 }, 1, 1, 1],
    [['x', 'a'], { a: 1 }, 1 / Math.log2(3), 1, 1 / 2],
    [['a', 'b'], { a: 1, b: 2 }, (1 + 3 / Math.log2(3)) / (3 + 1 / Math.log2(3)), 1, 1],
    [['x', 'y'], { a: 1 }, 0, 0, 0],
    [[], { a: 1 }, 0, 0, 0],
    [['1', '2', '3', '4', '5', 'a'], { a: 1 }, 1 / Math.log2(7), 0, 1 / 6],
    [['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'a'], { a: 1 }, 0, 0, 0],
  ])('%j with %j', (found, relevant, ndcg, recall, mrr) => {
    const measured = measureRanking(found, graded(relevant))
    expect(measured.ndcg_at_10).toBeCloseTo(ndcg, 12)
    expect(measured.recall_at_5).toBe(recall)
    expect(measured.mrr_at_10).toBe(mrr)
  })

  test('each is from 0 to 1, and of the ideal order nDCG is 1', () => {
    const ids = fc.uniqueArray(fc.constantFrom(...'abcdefghijklmnop'), { minLength: 1 })
    const relevant = fc.dictionary(fc.constantFrom(...'abcdefgh'), fc.integer({ min: 1, max: 4 }), { minKeys: 1 })
    fc.assert(
      fc.property(ids, relevant, (found, grades) => {
        const measured = measureRanking(found, graded(grades))
        expect(Object.values(measured).every((value) => value >= 0 && value <= 1 + 1e-12)).toBe(true)
        const ideal = Object.keys(grades).toSorted((a, b) => (grades[b] ?? 0) - (grades[a] ?? 0))
        expect(measureRanking(ideal, graded(grades)).ndcg_at_10).toBeCloseTo(1, 12)
      }),
    )
  })
})

test('an id stands for the first hit that is it or ends in it at a dot, and for no other', () => {
  const found = ['o.p.d.s.country.no', 'o.p.e.s.country.no', 'o.p.d.s.city.no', 'o.p.d.s.city.oslo']
  expect(namedHits(found, graded({ 'country.no': 1, 'o.p.d.s.city.oslo': 1, slo: 1 }))).toEqual([
    'country.no',
    'o.p.e.s.country.no',
    'o.p.d.s.city.no',
    'o.p.d.s.city.oslo',
  ])
})

const QUESTIONS: readonly RankingQuestion[] = Array.from({ length: 40 }, (_, at) => ({
  question: `q${at}`,
  relevant: graded({ a: 1 }),
}))
const always = (found: readonly string[]) => QUESTIONS.map(() => found)
const BEST = ['a', 'b']
const WORSE = ['b', 'a']

describe('compareRankings()', () => {
  test('holds each against the first', () => {
    const [first, same, better] = compareRankings(QUESTIONS, [
      { name: 'words', found: always(WORSE) },
      { name: 'same', found: always(WORSE) },
      { name: 'better', found: always(BEST) },
    ])
    expect(first).toEqual({
      name: 'words',
      ndcg_at_10: expect.closeTo(1 / Math.log2(3), 10),
      recall_at_5: 1,
      mrr_at_10: 0.5,
    })
    expect(same?.against).toEqual({ difference: 0, p: 1 })
    expect(better?.against?.difference).toBeCloseTo(1 - 1 / Math.log2(3), 10)
    expect(better?.against?.p).toBeLessThan(0.001)
  })
})

describe('chooseWeight()', () => {
  const weighted = (found: (weight: number) => readonly string[]) =>
    [0, 0.25, 1].map((weight) => ({ name: `${weight}`, weight, found: always(found(weight)) }))

  test('names what is significantly better than without', () => {
    const chosen = chooseWeight(
      QUESTIONS,
      weighted((weight) => (weight === 1 ? BEST : WORSE)),
      0.25,
    )
    expect(chosen.weight).toBe(1)
    expect(chosen.because).toMatch(/^chosen on every other question; on the rest it is \+0\.369 nDCG@10/)
  })

  test('is 0 where what is set makes it worse', () => {
    const chosen = chooseWeight(
      QUESTIONS,
      weighted((weight) => (weight > 0 ? WORSE : BEST)),
      0.25,
    )
    expect(chosen).toEqual({ weight: 0, because: expect.stringContaining('worse than without (-0.369 nDCG@10)') })
  })

  test('leaves what is set where nothing is shown, and where the questions are few', () => {
    const same = chooseWeight(
      QUESTIONS,
      weighted(() => BEST),
      0.25,
    )
    expect(same).toEqual({ weight: 0.25, because: expect.stringMatching(/^no weight is shown to help/) })
    const few = chooseWeight(
      QUESTIONS.slice(0, 19),
      weighted((weight) => (weight === 1 ? BEST : WORSE)),
      0.25,
    )
    expect(few).toEqual({ weight: 0.25, because: '19 questions are too few to choose by: at least 20 are needed' })
  })

  test('what is better on the half it was chosen on alone is not named', () => {
    const found = (weight: number) => QUESTIONS.map((_, at) => (weight === 1 && at % 2 === 0 ? BEST : WORSE))
    const rankings = [0, 0.25, 1].map((weight) => ({ name: `${weight}`, weight, found: found(weight) }))
    expect(chooseWeight(QUESTIONS, rankings, 0.25).weight).toBe(0.25)
  })
})
