import type { BlockDraft } from './read-block.ts'
import type { Reading } from './reading.ts'
import type { Wire } from './wire.ts'

/**
 * One problem a cycle: its members in the order of the arrows, and only them; a block that reads itself is one. Of
 * cycles that share a block one is answered, the next when it is mended. Linear in blocks and wires.
 */
export function findCycles(reading: Reading, blocks: readonly BlockDraft[], wires: readonly Wire[]): void {
  const after = new Map<BlockDraft, Wire[]>(blocks.map((block) => [block, []]))
  for (const wire of wires) after.get(wire.from)?.push(wire)
  const search: Search = { wires, after, path: [], open: new Map(), done: new Set(), told: new Set() }
  for (const block of blocks) {
    if (search.done.has(block)) continue
    enter(search, block)
    while (search.path.length > 0) advance(reading, search)
  }
}

interface Search {
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

function enter(search: Search, block: BlockDraft): void {
  search.open.set(block, search.path.length)
  search.path.push(block)
}

/** One step of a depth-first search: a wire back into the path closes a cycle. */
function advance(reading: Reading, search: Search): void {
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
  else if (!done.has(wire.to)) enter(search, wire.to)
}

/** Told from its first block in the document on, at the wire that leads back into that block. */
function refuseCycle({ problems }: Reading, { told, wires }: Search, members: readonly BlockDraft[]): void {
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
