import { isAsked, workingLeg } from '../../shared/runs/legs.ts'
import { PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockCall } from './block-call.ts'

interface StepsLeft {
  readonly leg: number
  /** Phase from which on the events of its end may take several appends. */
  readonly first: number
}

/** Where the end of an attempt is written: in the leg it was claimed or resumed in, or the one an answer begins. */
export function stepsLeft({ meter, lane }: BlockCall, attempt: number): StepsLeft {
  const from = meter.claim?.ordinal ?? lane ?? 0
  if (readOrdinal(from).attempt !== attempt) return { leg: 0, first: PHASE.gates }
  return { leg: workingLeg(from), first: isAsked(from) ? nextAnswered(from) : PHASE.gates }
}

/** What a crash left out is told in further steps. */
export function nextAnswered(lane: number): number {
  const { phase } = readOrdinal(lane)
  return phase === PHASE.asked ? PHASE.answered : phase + 1
}
