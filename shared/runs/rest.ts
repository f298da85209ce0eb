import { bounceModules } from '../dag/bounce-modules.ts'
import type { Block, Dag } from '../dag/dag.ts'
import { type BlockPositions, blockOrdinal, blockOutcome, type Head, isPaused } from './head.ts'
import { waitedFor } from './waiting.ts'

/** A wait that is over sooner keeps its slot: giving it back and taking one again would cost more than it frees. */
export const LEAST_REST_MS = 300_000

/**
 * Whether a run of it may ever come to where nothing goes on by itself: by its document, not by lost attempts or calls of agents.
 * Found once for a document: each block asks at its end.
 */
export function mayRest(dag: Dag): boolean {
  const known = resting.get(dag)
  if (known !== undefined) return known
  const { blocks, budget } = dag
  const may = budget?.on_exceed === 'ask' || blocks.some((block) => block.mode === 'wait' || asks(block))
  resting.set(dag, may)
  return may
}

const resting = new WeakMap<Dag, boolean>()

function asks({ approval, pre_gates, post_gates, foreach }: Block): boolean {
  const gates = [...pre_gates, ...post_gates, ...(foreach?.item_gates ?? [])]
  return approval !== undefined || gates.some(({ on_fail }) => on_fail === 'ask')
}

/**
 * Whether nothing of a run can go on by itself: no attempt is in flight, retried or about to begin, and a person is asked
 * or a wait is open (docs/adr/0101); or nothing is in flight of one that is paused. `head` with every lane. A block that is blind to this, since its function is under way
 * without a trace in HEAD, finds that its run rests and takes a slot first.
 */
export function canRest(pinned: BlockPositions & { readonly dag: Dag }, head: Head): boolean {
  if (head.state !== 'running' || head.queued === true || head.resting !== undefined) return false
  if (head.running.length > 0 || !isPaused(head)) return false
  if (head.paused !== undefined) return true
  const { dag, index } = pinned
  const modules = bounceModules(dag.blocks)
  const asked = new Set(
    Object.values(head.approvals).flatMap(({ status, block }) => (status === 'pending' ? block : [])),
  )
  return !dag.blocks.some(({ id, upstream }) => {
    if (asked.has(index.get(id) ?? -1) || blockOrdinal(pinned, head, id) !== undefined) return false
    return waitedFor(id, upstream, modules).every((other) => blockOutcome(pinned, head, other) !== undefined)
  })
}
