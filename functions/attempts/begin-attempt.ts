import type { AttemptEnd } from './attempt-outcome.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportRecorded } from './block-report.ts'
import { attemptFeedback } from './bounce.ts'
import type { OpenAttempt } from './claim.ts'
import { finishAttempt, skipBlock } from './end.ts'
import { askUnlessOver, type PreparedAttempt, prepareAttempt } from './prepare.ts'
import { endFromCache } from './reuse.ts'

/** An attempt that is claimed, and what it works with. */
export interface BegunAttempt<Claim> {
  readonly attempt: number
  readonly claim: Claim
  readonly ready: PreparedAttempt
  /** What sent the block back, and what its last attempt was refused for, a line each. */
  readonly feedback: readonly string[]
}

interface Beginning<Claim> {
  /** A person still has to be asked, so only what is over without its work may be claimed. */
  readonly undecided: boolean
  prepare?(): Promise<PreparedAttempt>
  claim(ready: PreparedAttempt): Promise<Claim | 'ended'>
}

/**
 * An attempt from its inputs to its claim, whoever does its work then: this function, code of the project, AWS. A report: it
 * is skipped, or the run is over.
 */
export async function beginAttempt<Claim>(
  call: BlockCall,
  { attempt, failure }: OpenAttempt,
  { undecided, prepare = () => prepareAttempt(call, attempt), claim }: Beginning<Claim>,
): Promise<BegunAttempt<Claim> | BlockReport> {
  call.world.log.note?.({ attempt, epoch: call.epoch })
  const ready = await prepare()
  if (ready.unwanted === true) return skipBlock(call, { because: [], condition: 'when' })
  if (undecided) await askUnlessOver(call, ready)
  const feedback = await attemptFeedback(call, failure)
  const claimed = await claim(ready)
  return claimed === 'ended' ? reportRecorded(call) : { attempt, claim: claimed, ready, feedback }
}

type Begun = Omit<BegunAttempt<unknown>, 'claim'>

/** Its end without its work: it could not begin, or a result that was kept stands in for it. Undefined: it has to work. */
export async function endWithoutWork(
  call: BlockCall,
  { attempt, ready, feedback }: Begun,
): Promise<AttemptEnd | undefined> {
  const { failure, taken, values, hash: inputs_hash } = ready
  if (failure !== undefined) return { attempt, verdicts: [], gate_events: [], failure }
  return taken ?? endFromCache(call, { values, inputs_hash, feedback, attempt })
}

export function finishBegun(call: BlockCall, { ready }: Begun, end: AttemptEnd): Promise<BlockReport> {
  return finishAttempt(call, end, { inputs_hash: ready.hash, inputs: ready, before: ready.pre.verdicts })
}
