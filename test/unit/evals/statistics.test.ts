import { describe, expect, test } from 'vitest'
import {
  holm,
  mcnemar,
  meanInterval,
  measureOf,
  pairedRandomisation,
  shareOf,
} from '../../../shared/evals/statistics.ts'

describe('shareOf()', () => {
  // Newcombe 1998, Statistics in Medicine 17, 857-872, Table I: Wilson's score interval.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%i of %i', (passed, of, low, high) => {
    const share = shareOf(passed, of)
    expect([share?.low.toFixed(4), share?.high.toFixed(4)]).toEqual([low.toFixed(4), high.toFixed(4)])
  })

  test('of nothing is none', () => {
    expect(shareOf(0, 0)).toBeUndefined()
    expect(shareOf(20, 20)?.high).toBe(1)
  })
})

describe('mcnemar()', () => {
  test.each([
    [1, 9, 22 / 1_024],
    [0, 10, 2 / 1_024],
    [5, 5, 1],
    [0, 0, 1],
    [0, 1, 1],
    [6, 0, 2 / 64],
  ])('of %i better and %i worse is the two-sided binomial test', (better, worse, p) => {
    expect(mcnemar(better, worse)).toBeCloseTo(p, 12)
    expect(mcnemar(worse, better)).toBeCloseTo(p, 12)
  })

  test('of many pairs is not zero by rounding, and no more than one', () => {
    expect(mcnemar(5_000, 5_000)).toBe(1)
    expect(mcnemar(4_800, 5_200)).toBeCloseTo(6.6e-5, 5)
    expect(mcnemar(0, 1_000)).toBeGreaterThan(0)
  })
})

describe('holm()', () => {
  test('multiplies the smallest by all, the next by one less, and never falls', () => {
    expect(holm([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06])
    expect(holm([0.5, 0.9])).toEqual([1, 1])
    expect(holm([])).toEqual([])
  })
})

describe('meanInterval()', () => {
  test('is the same each time, holds the mean, and is near the normal one', () => {
    const values = Array.from({ length: 400 }, (_, at) => at % 2)
    const first = meanInterval(values)
    expect(meanInterval(values)).toEqual(first)
    // 0.5 -+ 1.96 * 0.5 / 20
    expect(first.low).toBeCloseTo(0.451, 1)
    expect(first.high).toBeCloseTo(0.549, 1)
    expect(first.mean).toBe(0.5)
  })

  test('of values that are alike is that value', () => {
    expect(meanInterval([2, 2, 2])).toEqual({ mean: 2, low: 2, high: 2 })
    expect(measureOf([3])).toEqual({ of: 1, mean: 3, low: 3, high: 3, median: 3, p95: 3 })
    expect(measureOf([])).toBeUndefined()
  })

  test('order statistics are values that were seen', () => {
    const seen = measureOf([5, 1, 4, 2, 3, 6, 7, 8, 9, 100])
    expect([seen?.median, seen?.p95]).toEqual([5, 100])
  })
})

describe('pairedRandomisation()', () => {
  // Of n differences of one size and sign, two in 2^n draws are as large.
  test.each([
    [[1, 1, 1, 1], [0, 0, 0, 0], 2 / 16],
    [[1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0], 2 / 64],
    [[1, 0], [0, 1], 1],
    [[0.5, 0.7], [0.5, 0.7], 1],
    [[], [], 1],
  ])('of %j beside %j', (ours, theirs, p) => {
    expect(pairedRandomisation(ours, theirs)).toBeCloseTo(p, 2)
    expect(pairedRandomisation(theirs, ours)).toBeCloseTo(p, 2)
  })
})
