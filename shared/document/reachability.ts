import type { BlockDraft } from './block.ts'
import type { Reading } from './sections.ts'
import type { Wire } from './wires.ts'

/** What is done before a block, and what starts after it; found once a block. Cycles do no harm. */
export interface Reach {
  readonly before: (block: BlockDraft) => ReadonlySet<BlockDraft>
  readonly after: (block: BlockDraft) => ReadonlySet<BlockDraft>
}

/** Reachability over the wires. A block itself is in its sets only where it lies on a cycle. */
export function reachability(wires: readonly Wire[]): Reach {
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

/**
 * One problem a cycle: its members in the order of the arrows, and only them; a block that reads itself is one. Of
 * cycles that share a block one is answered, the next when it is mended. Linear in blocks and wires.
 */
export function checkCycles(reading: Reading, blocks: readonly BlockDraft[], wires: readonly Wire[]): void {
  const after = new Map<BlockDraft, Wire[]>(blocks.map((block) => [block, []]))
  for (const wire of wires) after.get(wire.from)?.push(wire)
  const search: CycleSearch = { wires, after, path: [], open: new Map(), done: new Set(), told: new Set() }
  for (const block of blocks) {
    if (search.done.has(block)) continue
    enterBlock(search, block)
    while (search.path.length > 0) advanceSearch(reading, search)
  }
}

interface CycleSearch {
  readonly wires: readonly Wire[]
  /** Wires that leave a block and were not followed yet. */
  readonly after: ReadonlyMap<BlockDraft, Wire[]>
  /** Blocks from the start of the search to here, and the place of each in it. */
  readonly path: BlockDraft[]
  readonly open: Map<BlockDraft, number>
  readonly done: Set<BlockDraft>
  /** Members of cycles already answered. */
  readonly told: Set<BlockDraft>
}

function enterBlock(search: CycleSearch, block: BlockDraft): void {
  search.open.set(block, search.path.length)
  search.path.push(block)
}

/** One step of a depth-first search: a wire back into the path closes a cycle. */
function advanceSearch(reading: Reading, search: CycleSearch): void {
  const { after, path, open, done } = search
  const here = path.at(-1)
  if (here === undefined) return
  const wire = after.get(here)?.pop()
  if (wire === undefined) {
    path.pop()
    open.delete(here)
    done.add(here)
    return
  }
  const back = open.get(wire.to)
  if (back !== undefined) refuseCycle(reading, search, path.slice(back))
  else if (!done.has(wire.to)) enterBlock(search, wire.to)
}

/** Told from its first block in the document on, at the wire that leads back into that block. */
function refuseCycle({ problems }: Reading, { told, wires }: CycleSearch, members: readonly BlockDraft[]): void {
  if (members.some((member) => told.has(member))) return
  for (const member of members) told.add(member)
  const turn = members.reduce((first, { index }, at) => (index < (members[first]?.index ?? 0) ? at : first), 0)
  const cycle = [...members.slice(turn), ...members.slice(0, turn)]
  const names = [...cycle, ...cycle.slice(0, 1)].map(({ id, index }) => id ?? `blocks[${index}]`)
  const text = `blocks wait for each other in a cycle: ${names.join(' -> ')}`
  const closing = wires.find(({ from, to }) => from === cycle.at(-1) && to === cycle[0])
  const path = closing?.path ?? []
  problems.push({ code: 'cycle', path, say: () => ({ text, hint: 'Remove one of these wires.' }) })
}
