import type { GraphLayout } from './graph-layout.ts'

type Node = GraphLayout['nodes'][number]

/**
 * The block a key leads to: right and left along an edge, to the nearest one it leads to or comes from; up and down
 * within a column; Home and End to the first and the last. Undefined: the key leads nowhere, or is no such key.
 */
export function blockByKey(layout: GraphLayout, from: string, key: string): string | undefined {
  const { nodes } = layout
  const here = nodes.find(({ id }) => id === from)
  if (here === undefined || !Object.hasOwn(WAYS, key)) return undefined
  return WAYS[key]?.(layout, here)?.id
}

const WAYS: Readonly<Record<string, (layout: GraphLayout, here: Node) => Node | undefined>> = {
  ArrowRight: ({ nodes, edges }, here) => {
    const ids = new Set(edges.flatMap(({ from, to }) => (from === here.id ? [to] : [])))
    return nearest(nodes, ids, here)
  },
  ArrowLeft: ({ nodes, edges }, here) => {
    const ids = new Set(edges.flatMap(({ from, to }) => (to === here.id ? [from] : [])))
    return nearest(nodes, ids, here)
  },
  ArrowDown: ({ nodes }, here) => inColumn(nodes, here, 1),
  ArrowUp: ({ nodes }, here) => inColumn(nodes, here, -1),
  Home: ({ nodes }) => nodes[0],
  End: ({ nodes }) => nodes.at(-1),
}

function nearest(nodes: readonly Node[], ids: ReadonlySet<string>, here: Node): Node | undefined {
  const far = ({ x, y }: Node) => Math.abs(x - here.x) + Math.abs(y - here.y)
  return nodes
    .filter(({ id }) => ids.has(id))
    .reduce<Node | undefined>((best, node) => (best === undefined || far(node) < far(best) ? node : best), undefined)
}

/** Nodes stand in the order of their columns, and of their place in them. */
function inColumn(nodes: readonly Node[], here: Node, step: number): Node | undefined {
  const column = nodes.filter(({ rank }) => rank === here.rank)
  return column[column.indexOf(here) + step]
}
