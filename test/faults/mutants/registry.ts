import type { Mutant } from '../mutant.ts'
import { bulkDoneTwice, bulkRunSkipped, bulkSearchesAgain } from './bulks.ts'
import { callGateSkipped } from './call-gate-skipped.ts'
import { callOfAnother } from './call-of-another.ts'
import { callRetriedByClient } from './call-retried-by-client.ts'
import { callUnapproved } from './call-unapproved.ts'
import { callbackUsedTwice } from './callback-used-twice.ts'
import { checkMovedLater } from './check-moved-later.ts'
import { childDecisionStale } from './child-decision-stale.ts'
import { childTakenOver } from './child-taken-over.ts'
import { countedJoins } from './counted-joins.ts'
import { decidedTwice } from './decided-twice.ts'
import { decisionInherited } from './decision-inherited.ts'
import { droppedTwice } from './dropped-twice.ts'
import { editsIgnored } from './edits-ignored.ts'
import { endToldFirst } from './end-told-first.ts'
import { erasedBodyLeft } from './erased-body-left.ts'
import { erasedKeptResult } from './erased-kept-result.ts'
import { erasedStillListed } from './erased-still-listed.ts'
import { erasureLost } from './erasure-lost.ts'
import { firedTwice } from './fired-twice.ts'
import { firingLost } from './firing-lost.ts'
import { firingOvertakes } from './firing-overtakes.ts'
import { holdOverlooked } from './hold-overlooked.ts'
import { itemsDispatchedOn } from './items-dispatched-on.ts'
import { joinedWithNobody } from './joined-with-nobody.ts'
import { keptPassedOver } from './kept-passed-over.ts'
import { lateAttemptTaken } from './late-attempt-taken.ts'
import { leaseKept } from './lease-kept.ts'
import { leaseOverCap } from './lease-over-cap.ts'
import { lookedBeforeRegistered } from './looked-before-registered.ts'
import { lostCallAgain } from './lost-call-again.ts'
import { lostOnceAgain } from './lost-once-again.ts'
import { noLaneGuard } from './no-lane-guard.ts'
import { noTerminalGuard } from './no-terminal-guard.ts'
import { noteDropped } from './note-dropped.ts'
import { outcomeOfAnother } from './outcome-of-another.ts'
import { overrideUnshown } from './override-unshown.ts'
import { pageByFirstSeq } from './page-by-first-seq.ts'
import { pagesFirst } from './pages-first.ts'
import { pauseCounted } from './pause-counted.ts'
import { pauseUnseen } from './pause-unseen.ts'
import { projectionBackwards } from './projection-backwards.ts'
import { rateUncounted } from './rate-uncounted.ts'
import { readThenPut } from './read-then-put.ts'
import { readerRepeats } from './reader-repeats.ts'
import { refusedResultShown } from './refused-result-shown.ts'
import { restEndsSlotless } from './rest-ends-slotless.ts'
import { restSlotKept } from './rest-slot-kept.ts'
import { resumeLost } from './resume-lost.ts'
import { revokedLetIn } from './revoked-let-in.ts'
import { shardOverFull } from './shard-over-full.ts'
import { shardUnread } from './shard-unread.ts'
import { spendAfterCall } from './spend-after-call.ts'
import { spendingUncounted } from './spending-uncounted.ts'
import { staleDecision } from './stale-decision.ts'
import { startUnconditioned } from './start-unconditioned.ts'
import { stepBegunTwice } from './step-begun-twice.ts'
import { stopWithoutOutbox } from './stop-without-outbox.ts'
import { storageUncounted } from './storage-uncounted.ts'
import { taintForgotten } from './taint-forgotten.ts'
import { tokenBeforeDecision } from './token-before-decision.ts'
import { toolAsItIs } from './tool-as-it-is.ts'
import { trimFirst } from './trim-first.ts'
import { turnAskedAgain } from './turn-asked-again.ts'
import { turnOverLimit } from './turn-over-limit.ts'
import { turnOvertaken } from './turn-overtaken.ts'
import { voteCountedTwice } from './vote-counted-twice.ts'
import { waivedUndecided } from './waived-undecided.ts'

/** Every planted mistake. Those with a `client` are of the DynamoDB adapter alone; the others are of both stores. */
export const MUTANTS: readonly Mutant[] = [
  bulkDoneTwice,
  bulkRunSkipped,
  bulkSearchesAgain,
  callGateSkipped,
  callOfAnother,
  callRetriedByClient,
  callUnapproved,
  callbackUsedTwice,
  checkMovedLater,
  childDecisionStale,
  childTakenOver,
  countedJoins,
  decidedTwice,
  decisionInherited,
  droppedTwice,
  editsIgnored,
  endToldFirst,
  erasedBodyLeft,
  erasedKeptResult,
  erasedStillListed,
  erasureLost,
  holdOverlooked,
  firedTwice,
  firingLost,
  firingOvertakes,
  joinedWithNobody,
  rateUncounted,
  itemsDispatchedOn,
  keptPassedOver,
  lateAttemptTaken,
  leaseKept,
  leaseOverCap,
  lookedBeforeRegistered,
  lostCallAgain,
  lostOnceAgain,
  noLaneGuard,
  noTerminalGuard,
  noteDropped,
  outcomeOfAnother,
  overrideUnshown,
  pageByFirstSeq,
  pagesFirst,
  pauseCounted,
  pauseUnseen,
  projectionBackwards,
  readThenPut,
  readerRepeats,
  refusedResultShown,
  restEndsSlotless,
  restSlotKept,
  resumeLost,
  revokedLetIn,
  shardOverFull,
  shardUnread,
  spendAfterCall,
  staleDecision,
  startUnconditioned,
  stepBegunTwice,
  stopWithoutOutbox,
  spendingUncounted,
  storageUncounted,
  taintForgotten,
  tokenBeforeDecision,
  toolAsItIs,
  trimFirst,
  turnAskedAgain,
  turnOverLimit,
  turnOvertaken,
  voteCountedTwice,
  waivedUndecided,
]
