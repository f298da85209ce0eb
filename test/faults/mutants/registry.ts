import type { Mutant } from '../mutant.ts'
import { callOfAnother } from './call-of-another.ts'
import { callbackUsedTwice } from './callback-used-twice.ts'
import { checkMovedLater } from './check-moved-later.ts'
import { childDecisionStale } from './child-decision-stale.ts'
import { childTakenOver } from './child-taken-over.ts'
import { countedJoins } from './counted-joins.ts'
import { decidedTwice } from './decided-twice.ts'
import { decisionInherited } from './decision-inherited.ts'
import { itemsDispatchedOn } from './items-dispatched-on.ts'
import { keptPassedOver } from './kept-passed-over.ts'
import { lateAttemptTaken } from './late-attempt-taken.ts'
import { leaseKept } from './lease-kept.ts'
import { leaseOverCap } from './lease-over-cap.ts'
import { lookedBeforeRegistered } from './looked-before-registered.ts'
import { lostOnceAgain } from './lost-once-again.ts'
import { noLaneGuard } from './no-lane-guard.ts'
import { noTerminalGuard } from './no-terminal-guard.ts'
import { noteDropped } from './note-dropped.ts'
import { outcomeOfAnother } from './outcome-of-another.ts'
import { overrideUnshown } from './override-unshown.ts'
import { pageByFirstSeq } from './page-by-first-seq.ts'
import { pagesFirst } from './pages-first.ts'
import { projectionBackwards } from './projection-backwards.ts'
import { readThenPut } from './read-then-put.ts'
import { readerRepeats } from './reader-repeats.ts'
import { revokedLetIn } from './revoked-let-in.ts'
import { spendAfterCall } from './spend-after-call.ts'
import { staleDecision } from './stale-decision.ts'
import { startUnconditioned } from './start-unconditioned.ts'
import { stepBegunTwice } from './step-begun-twice.ts'
import { stopWithoutOutbox } from './stop-without-outbox.ts'
import { storageUncounted } from './storage-uncounted.ts'
import { tokenBeforeDecision } from './token-before-decision.ts'
import { trimFirst } from './trim-first.ts'
import { voteCountedTwice } from './vote-counted-twice.ts'
import { waivedUndecided } from './waived-undecided.ts'

/** Every planted mistake. Those with a `client` are of the DynamoDB adapter alone; the others are of both stores. */
export const MUTANTS: readonly Mutant[] = [
  callbackUsedTwice,
  callOfAnother,
  checkMovedLater,
  childDecisionStale,
  childTakenOver,
  countedJoins,
  decidedTwice,
  decisionInherited,
  itemsDispatchedOn,
  keptPassedOver,
  lateAttemptTaken,
  leaseKept,
  leaseOverCap,
  lookedBeforeRegistered,
  lostOnceAgain,
  noLaneGuard,
  noTerminalGuard,
  noteDropped,
  outcomeOfAnother,
  overrideUnshown,
  pageByFirstSeq,
  pagesFirst,
  projectionBackwards,
  readThenPut,
  readerRepeats,
  revokedLetIn,
  spendAfterCall,
  staleDecision,
  startUnconditioned,
  stepBegunTwice,
  stopWithoutOutbox,
  storageUncounted,
  tokenBeforeDecision,
  trimFirst,
  voteCountedTwice,
  waivedUndecided,
]
