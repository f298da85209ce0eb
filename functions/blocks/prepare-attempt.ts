import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import type { BlockCall, BlockInputs } from './block-call.ts'
import type { AttemptEnd, Failure } from './end-attempt.ts'
import { failureOf } from './failure-of.ts'
import { gateFailure } from './gate-failure.ts'
import { isUnwanted } from './is-unwanted.ts'
import type { Judged } from './judge-block.ts'
import { attemptInputs, judgePre } from './judge-pre.ts'
import { shortText } from './short-text.ts'
import { takenOver } from './taken-over.ts'

/** What an attempt is claimed with. `failure`: it is over before its dispatch. */
export interface PreparedAttempt extends BlockInputs {
  readonly hash: string
  readonly pre: Judged
  readonly failure?: Failure
  /** The child run that will do its work (mode dag). */
  readonly child?: string
  /** What questions of that child bind of this run. */
  readonly binding_ref?: string
  /** What is reserved for that child. */
  readonly reserve?: Amount
  /** What it goes over (foreach). */
  readonly items?: { readonly count: number; readonly inputs_ref: string }
  /** Its `when` is not true: it is skipped instead of claimed. */
  readonly unwanted?: true
  /** A result of the run that this one retries stands in for the work. */
  readonly taken?: AttemptEnd
}

const NOT_JUDGED: Judged = { verdicts: [], events: [], composed: { passed: true, failed: [], action: 'pass' } }

/** Inputs and pre-gates of the attempt; what is wrong with them is recorded as its failure, after the claim. */
export async function prepareAttempt(call: BlockCall, attempt: number): Promise<PreparedAttempt> {
  try {
    const inputs = await attemptInputs(call)
    const hash = sha256(canonicalJson(inputs.values))
    if (isUnwanted(call, inputs.values)) return { ...inputs, hash, pre: NOT_JUDGED, unwanted: true }
    if (inputs.stale !== undefined) return { ...inputs, hash, pre: NOT_JUDGED, failure: notCovered(inputs.stale) }
    if (inputs.problems.length > 0) {
      const reason = shortText(`cannot start: ${inputs.problems.join('; ')}`)
      const failure = { code: 'missing_input', reason, retry: false, feedback: [] }
      return { ...inputs, hash, pre: NOT_JUDGED, failure }
    }
    const pre = await judgePre(call, attempt, inputs)
    if (pre.refusal !== undefined) return { ...inputs, hash, pre, failure: failureOf(call, pre.refusal) }
    if (!pre.composed.passed) return { ...inputs, hash, pre, failure: gateFailure('pre', pre) }
    const taken = await takenOver(call, { attempt, inputs_hash: hash, values: inputs.values })
    const { refusal } = call.meter
    if (refusal !== undefined) return { ...inputs, hash, pre, failure: failureOf(call, refusal) }
    return { ...inputs, hash, pre, ...(taken === undefined ? {} : { taken }) }
  } catch (error) {
    // Nothing is claimed yet: a store that is away for a moment is the machine's own retry, not a try of the block.
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    const failure = failureOf(call, error)
    return { values: {}, problems: [], context_version: 0, hash: sha256('{}'), pre: NOT_JUDGED, failure }
  }
}

/** Nobody said yes to what it would do now: a retry asks. */
function notCovered(stale: string): Failure {
  const reason = shortText(`not covered by the decision before it: ${stale}; retry the run, and people are asked again`)
  return { code: 'approval_stale', reason, retry: false, feedback: [] }
}
