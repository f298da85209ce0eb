import { PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { CallPlace } from '../../shared/telemetry/telemetry-port.ts'
import type { BlockCall } from './block-call.ts'

/** Where a call of a provider belongs right now: to the attempt that is claimed, else, for pre-gates, to the block alone. */
export function callPlace(call: BlockCall): CallPlace {
  const { run, block, item, epoch } = call
  const attempt = claimedAttempt(call)
  const of = { block_id: block.id, ...(item === undefined ? {} : { item }), epoch }
  return { run, block_id: block.id, ...(attempt === undefined ? {} : { attempt: { ...of, attempt } }) }
}

/** By this invocation, or before it as HEAD says: a child, items or a person were waited for since. */
function claimedAttempt({ meter, lane }: BlockCall): number | undefined {
  if (meter.claim !== undefined) return meter.claim.attempt
  if (lane === undefined) return undefined
  const { attempt, phase } = readOrdinal(lane)
  return phase === PHASE.retrying || attempt === 0 ? undefined : attempt
}
