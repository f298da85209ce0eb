import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { criticalPath, dagWidth, type Upstream } from '../../../shared/plan/critical-path.ts'

/** Small DAGs with every order of indexes: block v waits for some of those before it. */
const dags = fc
  .integer({ min: 1, max: 9 })
  .chain((n) => fc.tuple(...Array.from({ length: n }, (_, v) => fc.subarray(Array.from({ length: v }, (_u, u) => u)))))

describe('criticalPath()', () => {
  test('is the longest of all paths, and the path it names has that length', () => {
    fc.assert(
      fc.property(dags, fc.array(fc.nat(9), { minLength: 9, maxLength: 9 }), (upstream, seconds) => {
        const path = criticalPath(upstream, seconds)
        if ('cycle' in path) throw new Error('no cycle was drawn')
        const longestTo = (v: number): number =>
          (seconds[v] ?? 0) + Math.max(0, ...(upstream[v] ?? []).map((u) => longestTo(u)))
        expect(path.length).toBe(Math.max(...upstream.map((_, v) => longestTo(v))))
        expect(path.path.reduce((sum, v) => sum + (seconds[v] ?? 0), 0)).toBe(path.length)
        path.path.slice(1).forEach((v, i) => {
          expect(upstream[v]).toContain(path.path[i])
        })
      }),
    )
  })

  test.each<[string, Upstream, readonly number[]]>([
    ['of itself', [[0]], [0]],
    ['of two', [[1], [0]], [1, 0]],
    ['behind others, with a tail', [[], [0, 3], [1], [2], [3]], [1, 2, 3]],
  ])('names a cycle %s', (_, upstream, cycle) => {
    const found = criticalPath(
      upstream,
      upstream.map(() => 1),
    )
    expect('cycle' in found && [...found.cycle].sort()).toEqual([...cycle].sort())
  })

  test('goes on through blocks that take no time', () => {
    expect(criticalPath([[], [0], [1], [0]], [1, 0, 0, 0])).toMatchObject({ path: [0, 1, 2], length: 1 })
  })

  test('of equals names the blocks that come first in the document, however the edges are written', () => {
    const seconds = [1, 1, 1]
    expect(criticalPath([[], [], [1, 0]], seconds)).toMatchObject({ path: [0, 2], length: 2 })
    expect(criticalPath([[], [], [0, 1]], seconds)).toMatchObject({ path: [0, 2], length: 2 })
  })
})

describe('dagWidth()', () => {
  test('is the largest set of blocks none of which waits for another', () => {
    fc.assert(
      fc.property(dags, (upstream) => {
        const waits = (v: number): ReadonlySet<number> => new Set((upstream[v] ?? []).flatMap((u) => [u, ...waits(u)]))
        const before = upstream.map((_, v) => waits(v))
        const sizes = Array.from({ length: 2 ** upstream.length }, (_, bits) => {
          const set = upstream.flatMap((_u, v) => ((bits >> v) & 1 ? [v] : []))
          return set.some((v) => set.some((u) => before[v]?.has(u))) ? 0 : set.length
        })
        const path = criticalPath(upstream, [])
        expect(dagWidth(upstream, 'order' in path ? path.order : [])).toBe(Math.max(...sizes))
      }),
      { numRuns: 60 },
    )
  })

  test('of a thousand blocks side by side, and in a row', () => {
    const indexes = Array.from({ length: 1_000 }, (_, v) => v)
    expect(
      dagWidth(
        indexes.map(() => []),
        indexes,
      ),
    ).toBe(1_000)
    expect(
      dagWidth(
        indexes.map((v) => (v === 0 ? [] : [v - 1])),
        indexes,
      ),
    ).toBe(1)
  })
})
