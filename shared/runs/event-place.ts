import type { RunEvent } from './event.ts'
import { laneOwner } from './lane-key.ts'
import { readOrdinal } from './ordinal.ts'
import type { StepFold } from './run-fold.ts'

/** Epoch, attempt and item stand in the event's id, `<lane>/<ordinal>/<i>`. */
export function eventPlace({ id, attempt }: RunEvent): Pick<StepFold, 'epoch' | 'attempt' | 'item'> {
  const [lane = '', position] = id.split('/')
  const place = readOrdinal(Number(position))
  const item = laneOwner(lane)?.item
  return { epoch: place.epoch, attempt: attempt ?? place.attempt, ...(item === undefined ? {} : { item }) }
}
