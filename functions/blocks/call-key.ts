import { workingLeg } from '../../shared/runs/legs.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockCall } from './block-call.ts'

/**
 * What makes one call of a provider this call: `<run>/<lane>/<epoch>/<attempt>[.<leg>]/<repair>`. After a question in the
 * middle of the attempt its calls are others.
 */
export function callKey({ run, lane_key, epoch, lane }: BlockCall, attempt: number, repair: number): string {
  const leg = lane !== undefined && readOrdinal(lane).attempt === attempt ? workingLeg(lane) : 0
  return `${run.run_id}/${lane_key}/${epoch}/${attempt}${leg === 0 ? '' : `.${leg}`}/${repair}`
}
