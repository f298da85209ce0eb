import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildAdjacency, personalisedPageRank } from '../../../shared/graph/page-rank.ts'

const NODES = 12
type Pair = readonly [number, number]

/** Edges of kind 0, or of the kind that stands third. */
const graph = (edges: readonly (readonly [number, number, number?])[], nodes = NODES) =>
  buildAdjacency(nodes, {
    from: Uint32Array.from(edges, ([from]) => from),
    to: Uint32Array.from(edges, ([, to]) => to),
    kinds: Uint16Array.from(edges, ([, , kind = 0]) => kind),
  })
const seed = (node: number, weight = 1) => ({ node, weight })

const node = fc.nat({ max: NODES - 1 })
const edges = fc.array(fc.tuple(node, node), { maxLength: 40 })
const seeds = fc.array(fc.record({ node, weight: fc.double({ min: 0.01, max: 100, noNaN: true }) }), {
  minLength: 1,
  maxLength: 5,
})

describe('buildAdjacency()', () => {
  test('has each edge at both of its ends, as often as it is there', () => {
    fc.assert(
      fc.property(edges, (pairs) => {
        const { offsets, targets } = graph(pairs)
        const seen = Array.from({ length: NODES }, (_, n) =>
          [...targets.subarray(offsets[n], offsets[n + 1])].toSorted(),
        )
        const wanted = Array.from({ length: NODES }, (_, n) =>
          pairs.flatMap(([a, b]) => [...(a === n ? [b] : []), ...(b === n ? [a] : [])]).toSorted(),
        )
        expect(seen).toEqual(wanted)
      }),
    )
  })

  test('has the edges of a kind side by side', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(node, node, fc.nat({ max: 3 })), { maxLength: 40 }), (some) => {
        const { offsets, targets, kinds } = graph(some)
        for (let n = 0; n < NODES; n += 1) {
          const [from, to] = [offsets[n] ?? 0, offsets[n + 1] ?? 0]
          expect([...kinds.subarray(from, to)]).toEqual([...kinds.subarray(from, to)].toSorted((a, b) => a - b))
          const seen = [...targets.subarray(from, to)].map((target, at) => `${target} ${kinds[from + at]}`)
          const wanted = some.flatMap(([a, b, kind]) => [
            ...(a === n ? [`${b} ${kind}`] : []),
            ...(b === n ? [`${a} ${kind}`] : []),
          ])
          expect(seen.toSorted()).toEqual(wanted.toSorted())
        }
      }),
    )
  })
})

describe('diffuse(), drawn to kinds of edges', () => {
  const kinds = fc.array(fc.tuple(node, node, fc.nat({ max: 2 })), { maxLength: 40 })
  const drawn = Float64Array.of(1, 10, 3)

  test('keeps its mass, reaches the same, and does not care in which order edges come', () => {
    fc.assert(
      fc.property(kinds, seeds, fc.boolean(), (some, from, damped) => {
        const scores = personalisedPageRank(graph(some), from, { drawn, damped })
        expect(scores.reduce((sum, score) => sum + score, 0)).toBeCloseTo(1, 9)
        const plain = personalisedPageRank(graph(some), from)
        for (const [n, score] of scores.entries()) expect(score > 0).toBe((plain[n] ?? 0) > 0)
        const turned = personalisedPageRank(graph(some.toReversed()), from, { drawn, damped })
        for (const [n, score] of scores.entries()) expect(turned[n]).toBeCloseTo(score, 9)
      }),
    )
  })

  test('damped, less comes to what has many edges: of two neighbours the hub of 16 gets half', () => {
    const hub = Array.from({ length: 15 }, (_, n): [number, number, number] => [2, n + 3, 0])
    const some = graph([[0, 1, 0], [0, 2, 0], ...hub], 18)
    for (const drawn of [undefined, Float64Array.of(1)]) {
      const scores = personalisedPageRank(some, [seed(0)], { damped: true, drawn })
      const even = personalisedPageRank(some, [seed(0)], { drawn })
      expect(scores[1] ?? 0).toBeGreaterThan((even[1] ?? 0) * 1.2)
      expect(scores[2] ?? 0).toBeLessThan(even[2] ?? 0)
    }
  })

  test('one edge of the kind that draws is not lost among many of another', () => {
    const some = graph([[0, 1, 1], ...Array.from({ length: 9 }, (_, n): [number, number, number] => [0, n + 2, 0])])
    const scores = personalisedPageRank(some, [seed(0)], { drawn: Float64Array.of(1, 10) })
    // Ten of eleven parts by the one, the eleventh by the nine.
    expect((scores[1] ?? 0) / (scores[2] ?? 1)).toBeCloseTo(90, 6)
    expect(personalisedPageRank(some, [seed(0)])[1]).toBeCloseTo(personalisedPageRank(some, [seed(0)])[2] ?? 0, 12)
  })
})

describe('diffuse()', () => {
  test('keeps its mass, and leaves none where no seed leads', () => {
    fc.assert(
      fc.property(edges, seeds, (pairs, from) => {
        const scores = personalisedPageRank(graph(pairs), from)
        expect(scores.reduce((sum, score) => sum + score, 0)).toBeCloseTo(1, 9)
        const reached = closure(
          pairs,
          from.map((one) => one.node),
        )
        for (let n = 0; n < NODES; n += 1) {
          expect(scores[n]).toBeGreaterThanOrEqual(0)
          if (!reached.has(n)) expect(scores[n]).toBe(0)
        }
      }),
    )
  })

  test('is the same for the same, and only proportions of weights count', () => {
    fc.assert(
      fc.property(edges, seeds, (pairs, from) => {
        const scores = personalisedPageRank(graph(pairs), from)
        expect(personalisedPageRank(graph(pairs), from)).toEqual(scores)
        const doubled = personalisedPageRank(
          graph(pairs),
          from.map(({ node, weight }) => ({ node, weight: weight * 2 })),
        )
        for (const [n, score] of scores.entries()) expect(doubled[n]).toBeCloseTo(score, 9)
      }),
    )
  })

  test('does not care what the nodes are called', () => {
    const turned = (n: number) => (n * 5 + 3) % NODES
    fc.assert(
      fc.property(edges, seeds, (pairs, from) => {
        const scores = personalisedPageRank(graph(pairs), from)
        const again = personalisedPageRank(
          graph(pairs.map(([a, b]) => [turned(b), turned(a)])),
          from.map(({ node, weight }) => ({ node: turned(node), weight })),
        )
        for (const [n, score] of scores.entries()) expect(again[turned(n)]).toBeCloseTo(score, 9)
      }),
    )
  })

  test('gives what stands alike the same, what is nearer more, and what both seeds lead to most', () => {
    const star = personalisedPageRank(
      graph([
        [0, 1],
        [0, 2],
        [0, 3],
        [3, 4],
      ]),
      [seed(0)],
    )
    expect(star[1]).toBe(star[2])
    expect(star[3]).toBeGreaterThan(star[4] ?? 1)
    const bridge = personalisedPageRank(
      graph([
        [0, 2],
        [1, 2],
        [0, 3],
        [1, 4],
      ]),
      [seed(0), seed(1)],
    )
    expect(bridge[0]).toBeCloseTo(bridge[1] ?? 0, 12)
    expect(bridge[2]).toBeGreaterThan(bridge[3] ?? 1)
  })

  test('answers zeros where there is nothing to start from', () => {
    for (const from of [[], [seed(99)], [seed(-1)], [seed(0, 0)]]) {
      expect([...personalisedPageRank(graph([[0, 1]]), from)].every((score) => score === 0)).toBe(true)
    }
    expect(personalisedPageRank(graph([], 0), [seed(0)])).toHaveLength(0)
  })

  test('a seed without edges keeps all', () => {
    expect(personalisedPageRank(graph([[1, 2]]), [seed(0)])[0]).toBeCloseTo(1, 12)
  })
})

function closure(pairs: readonly Pair[], from: readonly number[]): ReadonlySet<number> {
  const reached = new Set(from)
  for (let before = -1; before !== reached.size; ) {
    before = reached.size
    for (const [a, b] of pairs) if (reached.has(a) || reached.has(b)) reached.add(a).add(b)
  }
  return reached
}
