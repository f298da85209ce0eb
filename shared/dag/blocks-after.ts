import type { Dag } from './dag.ts'

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
