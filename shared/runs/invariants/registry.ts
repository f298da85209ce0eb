import { attempts } from './attempts.ts'
import { blockEnds } from './block-ends.ts'
import { blockMoves } from './block-moves.ts'
import { bounces } from './bounces.ts'
import { decisionEffects, decisions } from './decisions.ts'
import { eventIds } from './event-ids.ts'
import { gatesBeforeCompletion } from './gates-before-completion.ts'
import type { Invariant } from './invariant.ts'
import { finalState, nothingAfterEnd, oneEnd } from './run-end.ts'
import { seqs } from './seqs.ts'
import { starts } from './starts.ts'

/** The invariants of spec reliability that one stored run can be asked about, by number. */
export const INVARIANTS: readonly Invariant[] = [
  seqs,
  eventIds,
  nothingAfterEnd,
  oneEnd,
  finalState,
  blockEnds,
  blockMoves,
  starts,
  attempts,
  gatesBeforeCompletion,
  decisions,
  decisionEffects,
  bounces,
]
