import type { BlockDraft } from './read-block.ts'
import type { Wire } from './wire.ts'

/** What is done before a block, and what starts after it; found once a block. Cycles do no harm. */
export interface Reach {
  readonly before: (block: BlockDraft) => ReadonlySet<BlockDraft>
  readonly after: (block: BlockDraft) => ReadonlySet<BlockDraft>
}

/** Reachability over the wires. A block itself is in its sets only where it lies on a cycle. */
export function reachOver(wires: readonly Wire[]): Reach {
  const sources = Map.groupBy(wires, ({ to }) => to)
  const targets = Map.groupBy(wires, ({ from }) => from)
  return {
    before: remembered((block) => (sources.get(block) ?? []).map(({ from }) => from)),
    after: remembered((block) => (targets.get(block) ?? []).map(({ to }) => to)),
  }
}

function remembered(next: (block: BlockDraft) => readonly BlockDraft[]): Reach['before'] {
  const known = new Map<BlockDraft, ReadonlySet<BlockDraft>>()
  return (block) => {
    const found = known.get(block) ?? reached(next, block)
    known.set(block, found)
    return found
  }
}

function reached(next: (block: BlockDraft) => readonly BlockDraft[], start: BlockDraft): ReadonlySet<BlockDraft> {
  const found = new Set(next(start))
  // A set's iteration also visits what is added to it on the way.
  for (const block of found) for (const other of next(block)) found.add(other)
  return found
}
