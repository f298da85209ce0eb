import type { Catcher, Retrier } from '../../../shared/compile/asl.ts'
import { journalPosition, pause } from './execution-context.ts'
import { compileField } from './expression.ts'
import { asStateError, errorEquals, errorOutput, type StateError } from './state-error.ts'
import { framePosition, type Outcome, statesVariable, type Visit, withinPayloadLimit } from './state-visit.ts'

interface ErrorRules {
  readonly Retry?: readonly Retrier[]
  readonly Catch?: readonly Catcher[]
}

/**
 * Runs the tries of a Task, Parallel or Map under its Retry and Catch. Evaluating Arguments and Output belongs to the
 * try, so their errors are retried and caught too. A failing Catch Output fails the state.
 */
export async function withRetryAndCatch(
  guards: ErrorRules,
  visit: Visit,
  attempt: () => Promise<Outcome>,
): Promise<Outcome> {
  const due = visit.memo?.retry_at
  if (due !== undefined) await pause(visit.frame, due)
  for (;;) {
    try {
      return await attempt()
    } catch (thrown) {
      if (visit.frame.scope.ended) throw thrown
      const outcome = await recover(guards, visit, asStateError(thrown))
      if (outcome !== undefined) return outcome
    }
  }
}

/** Waits for the next try (undefined), or answers the Catch's outcome, or throws the failure on. */
async function recover(guards: ErrorRules, visit: Visit, failure: StateError): Promise<Outcome | undefined> {
  const { frame } = visit
  delete visit.memo
  const retrier = guards.Retry?.findIndex((one) => errorEquals(one.ErrorEquals, failure.error)) ?? -1
  const rule = guards.Retry?.[retrier]
  const used = visit.retries?.[retrier] ?? 0
  if (rule !== undefined && used < rule.MaxAttempts) {
    const { clock, ids } = frame.execution.engine
    const at = clock.now() + retryDelayMs(rule, used, () => ids.random(4))
    visit.retries ??= (guards.Retry ?? []).map(() => 0)
    visit.retries[retrier] = used + 1
    journalPosition(frame, framePosition(visit, { retry_at: at }))
    await pause(frame, at)
    return undefined
  }
  const catcher = guards.Catch?.find((one) => errorEquals(one.ErrorEquals, failure.error))
  if (catcher === undefined) throw failure
  const seen = errorOutput(failure)
  if (catcher.Output === undefined) return { output: seen, next: catcher.Next }
  const output = await compileField(catcher, 'Output')(statesVariable(visit, { errorOutput: seen }))
  return { output: withinPayloadLimit(output, 'output of the Catch'), next: catcher.Next }
}

/**
 * Milliseconds before the next try: IntervalSeconds x BackoffRate^used, at most MaxDelaySeconds; FULL jitter takes a
 * random part of it. `random` gives four bytes. Source: Amazon States Language, "Retrying after error".
 */
export function retryDelayMs(rule: Retrier, used: number, random: () => Uint8Array): number {
  const grown = (rule.IntervalSeconds ?? 1) * (rule.BackoffRate ?? 2) ** used
  const seconds = Math.min(grown, rule.MaxDelaySeconds ?? Number.MAX_SAFE_INTEGER / 1000)
  if (rule.JitterStrategy !== 'FULL') return Math.round(seconds * 1000)
  const bytes = random()
  const share = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0) / 2 ** 32
  return Math.round(seconds * 1000 * share)
}
