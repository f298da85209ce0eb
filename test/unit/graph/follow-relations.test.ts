import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { followRelations, type TypedGraph } from '../../../shared/graph/follow-relations.ts'
import { buildAdjacency } from '../../../shared/graph/page-rank.ts'

const NODES = 10
type Edge = readonly [from: number, to: number, kind: number]

const graph = (edges: readonly Edge[], types: readonly number[] = []): TypedGraph => ({
  adjacency: buildAdjacency(NODES, {
    from: Uint32Array.from(edges, ([from]) => from),
    to: Uint32Array.from(edges, ([, to]) => to),
    kinds: Uint16Array.from(edges, ([, , kind]) => kind),
  }),
  types: Uint16Array.from({ length: NODES }, (_, node) => types[node] ?? 0),
})
const word = (kinds: readonly number[], types: readonly number[] = []) => ({
  kinds: new Set(kinds),
  types: new Set(types),
})

const node = fc.nat({ max: NODES - 1 })
const edges = fc.array(fc.tuple(node, node, fc.integer({ min: 1, max: 3 })), { maxLength: 30 })
const types = fc.array(fc.nat({ max: 2 }), { minLength: NODES, maxLength: NODES })
const words = fc.array(
  fc.record({ kinds: fc.subarray([1, 2, 3]), types: fc.subarray([1, 2]) }).map((w) => word(w.kinds, w.types)),
  { maxLength: 5 },
)
const seeds = fc.array(node, { minLength: 1, maxLength: 3 })

describe('followRelations()', () => {
  test('goes along one edge a word, the last word first, and never back to where it began', () => {
    const line = graph([
      [0, 1, 1],
      [1, 2, 2],
      [2, 3, 1],
      [0, 9, 2],
    ])
    expect(followRelations(line, [0], [word([2]), word([1])])).toEqual([2])
    expect(followRelations(line, [0], [word([1]), word([2]), word([1])])).toEqual([3])
    // Read from the other end only one word leads anywhere.
    expect(followRelations(line, [0], [word([1]), word([2])])).toEqual([1, 9])
  })

  test('a word that says what was reached is no hop', () => {
    const both = graph(
      [
        [0, 1, 1],
        [1, 2, 2],
      ],
      [0, 7],
    )
    expect(followRelations(both, [0], [word([2], [7]), word([1])])).toEqual([1])
    expect(followRelations(both, [0], [word([2], [8]), word([1])])).toEqual([2])
  })

  test('a hub of more edges than are looked at ends the walk there, not the answer', () => {
    const many = 200_000
    const adjacency = buildAdjacency(many, {
      from: new Uint32Array(many - 1),
      to: Uint32Array.from({ length: many - 1 }, (_, at) => at + 1),
      kinds: new Uint16Array(many - 1).fill(1),
    })
    expect(followRelations({ adjacency, types: new Uint16Array(many) }, [0], [word([1])])).toHaveLength(100_000)
  })

  test('whatever the graph: each end is joined to a seed by edges the words name, and only numbers of nodes matter', () => {
    fc.assert(
      fc.property(edges, types, words, seeds, (some, kinds, said, from) => {
        const found = followRelations(graph(some, kinds), from, said)
        const named = new Set(said.flatMap((one) => [...one.kinds]))
        let near = new Set(from)
        for (let hop = 0; hop < 3; hop += 1) {
          const next = some.filter(([, , kind]) => named.has(kind)).flatMap(([a, b]) => pairOf(near, a, b))
          near = new Set([...near, ...next])
        }
        expect(found.filter((end) => !near.has(end) || from.includes(end))).toEqual([])
        expect(followRelations(graph(some.toReversed(), kinds), from.toReversed(), said)).toEqual(found)
      }),
    )
  })
})

function pairOf(near: ReadonlySet<number>, a: number, b: number): readonly number[] {
  return [...(near.has(a) ? [b] : []), ...(near.has(b) ? [a] : [])]
}
