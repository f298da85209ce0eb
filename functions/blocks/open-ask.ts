import { Fault } from '../../shared/errors.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { eventPlace } from '../../shared/runs/event-place.ts'
import { isAsked } from '../../shared/runs/legs.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { AskedNote, BlockProjection } from '../../shared/runs/run-items.ts'
import { allEvents } from '../runs/all-events.ts'
import type { BlockCall } from './block-call.ts'
import { readOwnProjection } from './read-outputs.ts'

/** An attempt a person was asked about, as it was left. */
export interface OpenAsk extends AskedNote {
  readonly attempt: number
  readonly projection: BlockProjection
  /** What happened in this attempt so far, in order. */
  readonly events: readonly RunEvent[]
}

/** What the lane of this call waits for an answer to; undefined = for nothing. */
export async function openAsk(call: BlockCall): Promise<OpenAsk | undefined> {
  const { lane, block } = call
  if (lane === undefined || !isAsked(lane)) return undefined
  const projection = await readOwnProjection(call, lane)
  if (projection?.asked === undefined && (projection?.ordinal ?? 0) > lane) {
    // Who was slow since it read HEAD looks again: the machine calls once more.
    throw new Fault('Unavailable', 'ask_missing', `Block "${block.id}" has gone on since its question was looked for.`)
  }
  if (projection?.asked === undefined) {
    throw new Fault('Bug', 'ask_missing', `Lane and record of block "${block.id}" differ: nobody knows what it asked.`)
  }
  const { attempt } = readOrdinal(lane)
  return { ...projection.asked, attempt, projection, events: await attemptEvents(call, attempt) }
}

/** The events of one attempt of this block, or item, in this epoch. */
async function attemptEvents(
  { world, run, block, item, epoch }: BlockCall,
  attempt: number,
): Promise<readonly RunEvent[]> {
  const events = await allEvents(world, run)
  return events.filter((event) => {
    if (event.block_id !== block.id || event.item !== item || event.attempt !== attempt) return false
    return eventPlace(event).epoch === epoch
  })
}
