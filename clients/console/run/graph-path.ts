import { type GraphLayout, NODE_HEIGHT, NODE_WIDTH, type Point } from './graph-layout.ts'

/** The edge as an SVG path: a smooth line through its points. */
export function edgePath(points: readonly Point[]): string {
  const [first, ...rest] = points
  const last = rest.at(-1)
  if (first === undefined || last === undefined) return ''
  const curves = rest.map((point, index) => {
    const from = points[index] ?? first
    const middle = (from.x + point.x) / 2
    return `C${words(middle, from.y)} ${words(middle, point.y)} ${words(point.x, point.y)}`
  })
  return `M${words(first.x, first.y)}${curves.join('')}`
}

/** The way back of a bounce: out of the bottom of one block, below, into the bottom of the other. */
export function bouncePath(from: GraphLayout['nodes'][number], to: GraphLayout['nodes'][number]): string {
  const start = { x: from.x + NODE_WIDTH * 0.4, y: from.y + NODE_HEIGHT }
  const end = { x: to.x + NODE_WIDTH * 0.6, y: to.y + NODE_HEIGHT }
  const self = from.id === to.id ? NODE_WIDTH * 0.1 : 0
  const depth = Math.max(start.y, end.y) + 26
  return `M${words(start.x - self, start.y)}C${words(start.x - self, depth)} ${words(end.x + self, depth)} ${words(end.x + self, end.y)}`
}

function words(x: number, y: number): string {
  return `${x.toFixed(1)},${y.toFixed(1)}`
}
