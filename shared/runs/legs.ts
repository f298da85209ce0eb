import { PHASE, readOrdinal } from './ordinal.ts'

/** The last leg of an attempt: so many questions at the most are asked in it. */
export const LAST_LEG = 9

/** Whether a person is, or was, asked about the attempt of this lane, and what follows from the answer is not all told. */
export function isAsked(value: number): boolean {
  const { leg, phase } = readOrdinal(value)
  return phase === PHASE.asked || (leg > 0 && phase < PHASE.claimed)
}

/** The leg in which whoever works on the lane as it stands writes. */
export function workingLeg(value: number): number {
  const { leg, phase } = readOrdinal(value)
  return phase === PHASE.asked ? leg + 1 : leg
}
