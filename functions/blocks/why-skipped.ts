import { blockOutcome } from '../../shared/runs/block-lane.ts'
import { upstreamSkip } from '../../shared/runs/conditions.ts'
import type { EventData } from '../../shared/runs/event.ts'
import type { BlockCall } from './block-call.ts'

/** Why a block whose upstreams have ended is skipped, as HEAD says; undefined when it may go on. */
export function whySkipped({ block, head, ...places }: BlockCall): EventData<'block:skipped'> | undefined {
  return upstreamSkip(block, (id) => blockOutcome(places, head, id))
}
