import { Fault } from '../errors.ts'
import { BATCH } from './graph-store.ts'

/** Fault LimitExceeded too_many_entities. */
export function checkBatch(entities: number): void {
  if (entities <= BATCH) return
  const message = `Cannot take ${entities} entities in one call: at most ${BATCH} are allowed. Send them in parts.`
  throw new Fault('LimitExceeded', 'too_many_entities', message)
}
