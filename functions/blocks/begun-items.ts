import { blockLane } from '../../shared/runs/block-lane.ts'
import { PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { ForeachItems } from '../../shared/runs/run-items.ts'
import type { BlockCall } from './block-call.ts'
import { readProjections } from './read-outputs.ts'

/** Items at work: of which attempt of their block, and what they were begun with. */
export interface BegunItems extends ForeachItems {
  readonly attempt: number
}

/** The items of a foreach block from their opening to the block's end; undefined before and after. */
export async function begunItems(call: BlockCall): Promise<BegunItems | undefined> {
  const { world, run, block, head } = call
  const lane = blockLane(call, head, block.id)
  if (lane === undefined || !mayHaveItems(call)) return undefined
  const projection = (await readProjections(world, run, new Map([[block.index, lane]]))).get(block.index)
  return projection?.items === undefined ? undefined : { ...projection.items, attempt: projection.attempt }
}

/**
 * What HEAD alone tells: the verdicts of pre-gates are written before items begin, so its lane stands past them; an
 * attempt that goes on after a question writes them with that.
 */
export function mayHaveItems(call: BlockCall): boolean {
  const { dag, block, head } = call
  const gates = dag.blocks[block.index]?.pre_gates.length ?? 0
  const { leg, phase } = readOrdinal(blockLane(call, head, block.id) ?? 0)
  if (leg > 0) return phase === PHASE.claimed
  return phase === (gates > 0 ? PHASE.claimed + 9 : PHASE.claimed)
}
