import { attempts } from './attempts.ts'
import { blockEnds } from './block-ends.ts'
import { blockMoves } from './block-moves.ts'
import { bounces } from './bounces.ts'
import { boundActions } from './bound-actions.ts'
import { budget, spent } from './budget.ts'
import { decisionEffects, decisions } from './decisions.ts'
import { eventIds } from './event-ids.ts'
import { executionEnd } from './execution-end.ts'
import { gatesBeforeCompletion } from './gates-before-completion.ts'
import { goal } from './goal.ts'
import { headOfEvents } from './head-of-events.ts'
import type { Invariant } from './invariant.ts'
import { projections } from './projections.ts'
import { refs } from './refs.ts'
import { finalState, nothingAfterEnd, oneEnd } from './run-end.ts'
import { seqs } from './seqs.ts'
import { eventSizes } from './sizes.ts'
import { starts } from './starts.ts'
import { storedBytes } from './stored-bytes.ts'
import { verdictsAgain } from './verdicts-again.ts'

/** The invariants that one stored run can be asked about (docs/invariants.md), by number. */
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
  verdictsAgain,
  decisions,
  decisionEffects,
  budget,
  spent,
  eventSizes,
  refs,
  projections,
  headOfEvents,
  bounces,
  goal,
  executionEnd,
  boundActions,
  storedBytes,
]
