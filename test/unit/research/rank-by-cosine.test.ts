import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rankByCosine } from '../../../functions/research/semantic-rerank.ts'

const LENGTH = 4
const vector = fc.array(fc.double({ min: -1e150, max: 1e150, noNaN: true }), { minLength: LENGTH, maxLength: LENGTH })
const vectors = fc.array(vector, { maxLength: 12 })

describe('rankByCosine()', () => {
  test('the same direction first, the opposite last, ties in the order they came', () => {
    const ranked = rankByCosine(
      [1, 0],
      [
        [-2, 0],
        [0, 5],
        [3, 3],
        [0, 0],
        [7, 0],
      ],
    )
    expect(ranked.map(({ at }) => at)).toEqual([4, 2, 1, 3, 0])
    expect(ranked.map(({ cosine }) => Math.round(cosine * 100))).toEqual([100, 71, 0, 0, -100])
  })

  test('whatever the numbers: each place once, cosines from 1 down to -1, and no length changes a rank', () => {
    fc.assert(
      fc.property(vector, vectors, (wanted, all) => {
        const ranked = rankByCosine(wanted, all)
        expect(ranked.map(({ at }) => at).toSorted((a, b) => a - b)).toEqual(all.map((_, at) => at))
        for (const [place, { cosine }] of ranked.entries()) {
          expect(cosine >= -1 && cosine <= 1).toBe(true)
          expect(cosine).toBeLessThanOrEqual(ranked[place - 1]?.cosine ?? 1)
        }
        const doubled = rankByCosine(
          wanted.map((number) => number * 2),
          all.map((one, at) => one.map((number) => number * 2 ** (at % 3))),
        )
        expect(doubled).toEqual(ranked)
      }),
      { numRuns: 50 },
    )
  })
})
