import type { Dag } from './dag.ts'

/** Ids of every block that one waits for, near or far. */
export function blocksBefore({ blocks }: Pick<Dag, 'blocks'>, id: string): ReadonlySet<string> {
  const upstream = new Map(blocks.map((block) => [block.id, block.upstream]))
  const found = new Set(upstream.get(id))
  // A set's iteration also visits what is added to it on the way.
  for (const one of found) for (const source of upstream.get(one) ?? []) found.add(source)
  return found
}
