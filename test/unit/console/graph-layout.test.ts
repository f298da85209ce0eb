import { expect, test } from 'vitest'
import { layoutGraph, NODE_HEIGHT, NODE_WIDTH } from '../../../clients/console/run/graph/graph-layout.ts'

/** Columns of ten, each block behind two of the column before. */
function wide(count: number) {
  const ids = Array.from({ length: count }, (_, n) => `b${n}`)
  const edges = ids.slice(10).flatMap((to, n) => {
    const column = Math.floor(n / 10) * 10
    return [(n * 7) % 10, (n * 3 + 1) % 10].map((place) => ({ from: `b${column + place}`, to }))
  })
  return { ids, edges: edges.filter(({ from, to }, n) => edges.findIndex((e) => e.from === from && e.to === to) === n) }
}

test('a DAG of one block has a size and a place for it', () => {
  const { nodes, width, height } = layoutGraph({ ids: ['only'], edges: [] })
  expect(nodes).toMatchObject([{ id: 'only', rank: 0 }])
  expect(width).toBeGreaterThan(NODE_WIDTH)
  expect(height).toBeGreaterThan(NODE_HEIGHT)
})

test('a DAG without blocks is an empty picture', () => {
  expect(layoutGraph({ ids: [], edges: [] }).nodes).toEqual([])
})

test('every block stands right of what it waits for, and comes after it in the order of the nodes', () => {
  const shape = wide(200)
  const { nodes, edges } = layoutGraph(shape)
  const at = new Map(nodes.map((node, index) => [node.id, { ...node, index }]))
  expect(nodes.map(({ id }) => id).toSorted()).toEqual(shape.ids.toSorted())
  for (const { from, to } of shape.edges) {
    const [a, b] = [at.get(from), at.get(to)]
    expect(b?.x, `${from} -> ${to}`).toBeGreaterThanOrEqual((a?.x ?? 0) + NODE_WIDTH)
    expect(b?.index).toBeGreaterThan(a?.index ?? 0)
  }
  expect(edges.every(({ points }) => points.length >= 2)).toBe(true)
})

test('no two blocks overlap', () => {
  const { nodes } = layoutGraph(wide(120))
  const clashes = nodes.flatMap((a, n) =>
    nodes.slice(n + 1).filter((b) => Math.abs(a.x - b.x) < NODE_WIDTH && Math.abs(a.y - b.y) < NODE_HEIGHT),
  )
  expect(clashes).toEqual([])
})

test('edges leave on the right, arrive on the left, and run through no block between', () => {
  const { nodes, edges } = layoutGraph({
    ids: ['a', 'b', 'c', 'd'],
    edges: ['a b', 'b c', 'c d', 'a d', 'a c'].map((pair) => {
      const [from = '', to = ''] = pair.split(' ')
      return { from, to }
    }),
  })
  const at = new Map(nodes.map((node) => [node.id, node]))
  for (const { from, to, points } of edges) {
    const [a, b] = [at.get(from), at.get(to)]
    expect(points[0]).toEqual({ x: (a?.x ?? 0) + NODE_WIDTH, y: (a?.y ?? 0) + NODE_HEIGHT / 2 })
    expect(points.at(-1)).toEqual({ x: b?.x, y: (b?.y ?? 0) + NODE_HEIGHT / 2 })
    for (const { x, y } of points.slice(1, -1)) {
      const hit = nodes.find(
        (node) => x >= node.x && x <= node.x + NODE_WIDTH && y >= node.y && y <= node.y + NODE_HEIGHT,
      )
      expect(hit, `${from} -> ${to} at ${x}, ${y}`).toBeUndefined()
    }
  }
  expect(edges.find(({ from, to }) => from === 'a' && to === 'd')?.points.length).toBe(6)
})
