import type { Verdict } from '../../shared/gates/gate.ts'
import type { BlockCall, BlockInputs } from './block-call.ts'
import { type BlockReport, reportBlock } from './block-report.ts'
import { type AttemptEnd, endAttempt } from './end-attempt.ts'
import { keepResult } from './kept-result.ts'
import { whenNotDone } from './when-not-done.ts'

interface Beginning {
  readonly inputs_hash: string
  readonly inputs?: BlockInputs
  /** Verdicts of its pre-gates. */
  readonly before: readonly Verdict[]
}

/** Records how an attempt ended, and does what follows from it: another try, the end of the run, a result to keep. */
export async function finishAttempt(
  call: BlockCall,
  end: AttemptEnd,
  { inputs_hash, inputs, before }: Beginning,
): Promise<BlockReport> {
  const recorded = await endAttempt(call, end, { hash: inputs_hash, ...(inputs === undefined ? {} : { inputs }) })
  await whenNotDone(call, recorded, end.failure)
  if (recorded.state === 'completed') await keepResult(call, inputs_hash, end)
  const { state, seq } = recorded
  return reportBlock(call, { state, attempt: end.attempt, seq, verdicts: [...before, ...end.verdicts] })
}
