import { type ActingBlock, isActing } from '../agents/agent-items.ts'
import type { Block, Dag } from '../dag/dag.ts'
import { Fault } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { suggest } from '../text/wording.ts'

/** What a caller knows about runs of a DAG that the document does not say. */
export interface Expectations {
  /** Seconds of a block's work, by block; of one item, where it is a foreach. */
  readonly durations: Readonly<Record<string, number>>
  /** Of the blocks `durations` does not name. */
  readonly default_duration: number
  /** Items of a foreach block whose list the document does not hold. */
  readonly items: Readonly<Record<string, number>>
  /** 0 = no limit. */
  readonly max_parallel: number
}

/** Refuses names that are no blocks: InvalidInput unknown_block, with the one that was meant. */
export function checkExpectations({ name, blocks }: Dag, { durations, items }: Expectations): void {
  const ids = new Set(blocks.map(({ id }) => id))
  for (const [what, given] of Object.entries({ durations, items })) {
    const id = Object.keys(given).find((key) => !ids.has(key))
    if (id === undefined) continue
    const near = suggest(id, ids)
    const hint = near === undefined ? 'GET /api/dag/validate lists them' : `did you mean "${near}"`
    const message = `Cannot plan DAG "${name}": ${what} names "${id.slice(0, 64)}", which is no block of it; ${hint}.`
    throw new Fault('InvalidInput', 'unknown_block', message)
  }
}

/** Items of a foreach in the predicted run: those of the document, else as told, else one. 0 for other blocks. */
export function expectedItems({ id, foreach }: Block, { items }: Expectations): number {
  if (foreach === undefined) return 0
  if (typeof foreach.items !== 'string') return foreach.items.length
  return Object.hasOwn(items, id) ? (items[id] ?? 1) : 1
}

/** Items at most: the limit, where the list comes from a run. */
/** Calls of one turn that are reckoned with. */
const CALLS_A_TURN = 4

/** Turns of an agent that calls tools, as nothing else is known. */
export function expectedTurns({ agent }: ActingBlock): number {
  return Math.min(3, agent.acting.max_turns)
}

export function mostItems(block: Block): number {
  const { foreach } = block
  if (isActing(block)) {
    const { max_turns } = block.agent.acting
    return max_turns + Math.min(max_turns * CALLS_A_TURN, LIMITS.agent_calls)
  }
  if (foreach === undefined) return 0
  return typeof foreach.items === 'string' ? LIMITS.foreach_items : foreach.items.length
}
