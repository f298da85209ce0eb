import { Fault } from '../../shared/errors.ts'

/** Of a cursor behind the newest event: Fault Conflict cursor_ahead. */
export function cursorAheadFault(since: number, seq: number): Fault {
  const message = `Cannot resume after event ${since}: the newest event of this run is ${seq}. Start again with since=0.`
  return new Fault('Conflict', 'cursor_ahead', message, { facts: { last_seq: seq } })
}
