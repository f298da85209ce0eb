import type { Dag } from './dag.ts'

/**
 * Ids in an order in which every block comes after what it waits for; of blocks that could come next, the first of the
 * document. For a graph without cycles.
 */
export function topologicalOrder(dag: Dag): readonly string[] {
  const indexes = new Map(dag.blocks.map(({ id, index }) => [id, index]))
  const graph: Graph = { waits: dag.blocks.map(({ upstream }) => upstream.length), after: dag.blocks.map(() => []) }
  for (const { upstream, index } of dag.blocks)
    for (const id of upstream) graph.after[indexes.get(id) ?? -1]?.push(index)
  const order: string[] = []
  let next = 0
  while (next < dag.blocks.length) {
    const id = dag.blocks[next]?.id
    if (id !== undefined && graph.waits[next] === 0) {
      order.push(id)
      next = finish(graph, next)
    } else next += 1
  }
  return order
}

interface Graph {
  /** How many upstream blocks are not in the order yet; -1 = the block itself is. */
  readonly waits: number[]
  readonly after: readonly number[][]
}

/**
 * Marks a block as ordered and answers where to look next: the first block that became ready, if that is before the
 * following one. Going back costs at most blocks x blocks steps, and blocks are 1,000 at most.
 */
function finish({ waits, after }: Graph, index: number): number {
  waits[index] = -1
  let next = index + 1
  for (const later of after[index] ?? []) {
    const left = (waits[later] ?? 0) - 1
    waits[later] = left
    if (left === 0) next = Math.min(next, later)
  }
  return next
}

/** Ids of every block that one waits for, near or far. */
export function blocksBefore({ blocks }: Pick<Dag, 'blocks'>, id: string): ReadonlySet<string> {
  const upstream = new Map(blocks.map((block) => [block.id, block.upstream]))
  const found = new Set(upstream.get(id))
  // A set's iteration also visits what is added to it on the way.
  for (const one of found) for (const source of upstream.get(one) ?? []) found.add(source)
  return found
}

/** A block and every block that depends on it, near or far; ids in document order. */
export function withBlocksAfter({ blocks }: Pick<Dag, 'blocks'>, id: string): readonly string[] {
  const next = new Map<string, string[]>()
  for (const block of blocks) {
    for (const source of block.upstream) {
      const after = next.get(source)
      if (after === undefined) next.set(source, [block.id])
      else after.push(block.id)
    }
  }
  const found = new Set([id])
  for (const one of found) for (const after of next.get(one) ?? []) found.add(after)
  return blocks.filter((block) => found.has(block.id)).map((block) => block.id)
}
