import type { Block, Dag } from '../dag/dag.ts'
import { blocksBefore } from '../dag/order.ts'
import { childDocumentOf, type Meta } from '../runs/run-store.ts'

/** Whether a block's run may ask people before what is behind it goes on: itself, or in the child run it opens. */
export function asksPeople(block: Block, children: Meta['children']): boolean {
  return block.approval !== undefined || childDocumentOf(block, children)?.asks === true
}

/**
 * The blocks that can run only because of this block's decision: itself, and all behind it up to the next block with an
 * approval (whose own question binds what it lets happen). The asking block first, then in document order.
 */
export function governedBlocks(dag: Pick<Dag, 'blocks'>, asking: string): readonly Block[] {
  return governanceOf(dag, asking).governed
}

/** Blocks that governed ones wait for beside the question: not behind it, and not done before it is asked. */
export function feedingBlocks(dag: Pick<Dag, 'blocks'>, asking: string): readonly Block[] {
  return governanceOf(dag, asking).feeding
}

/** The blocks with an approval whose decision, or whose not being asked, lets this one run; not itself. */
export function governingBlocks(dag: Pick<Dag, 'blocks'>, id: string): readonly Block[] {
  return approvalBlocks(dag).filter((block) => governs(dag, block.id, id))
}

const knownApprovals = new WeakMap<object, readonly Block[]>()

/** Found once a document: every claim asks. */
function approvalBlocks({ blocks }: Pick<Dag, 'blocks'>): readonly Block[] {
  const found = knownApprovals.get(blocks) ?? blocks.filter(({ approval }) => approval !== undefined)
  knownApprovals.set(blocks, found)
  return found
}

/** Whether a question of this block, or of the child run it opens, lets that one run; not itself. */
export function governs(dag: Pick<Dag, 'blocks'>, asking: string, id: string): boolean {
  return asking !== id && governanceOf(dag, asking).governedIds.has(id)
}

interface Governance {
  readonly governed: readonly Block[]
  readonly governedIds: ReadonlySet<string>
  readonly feeding: readonly Block[]
}

const known = new WeakMap<object, Map<string, Governance>>()

/** Found once a document and block: every claim asks. */
function governanceOf({ blocks }: Pick<Dag, 'blocks'>, asking: string): Governance {
  const all = known.get(blocks) ?? new Map<string, Governance>()
  known.set(blocks, all)
  const found = all.get(asking) ?? findGovernance(blocks, asking)
  all.set(asking, found)
  return found
}

function findGovernance(blocks: readonly Block[], asking: string): Governance {
  const wires = blocks.flatMap((block) => block.upstream.map((source) => ({ source, block })))
  const next = Map.groupBy(wires, ({ source }) => source)
  const governedIds = new Set([asking])
  // A set's iteration also visits what is added to it on the way.
  for (const id of governedIds) {
    for (const { block } of next.get(id) ?? []) if (block.approval === undefined) governedIds.add(block.id)
  }
  const byId = new Map(blocks.map((block) => [block.id, block]))
  const beside = new Set(governedIds)
  for (const id of beside) for (const source of byId.get(id)?.upstream ?? []) beside.add(source)
  const before = blocksBefore({ blocks }, asking)
  const isFeeding = ({ id }: Block) => beside.has(id) && !governedIds.has(id) && !before.has(id)
  const first = blocks.filter(({ id }) => id === asking)
  const behind = blocks.filter(({ id }) => id !== asking && governedIds.has(id))
  return { governed: [...first, ...behind], governedIds, feeding: blocks.filter(isFeeding) }
}
