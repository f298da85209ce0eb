import type { Verdict } from '../../shared/gates/gate.ts'
import type { Failure } from './end-attempt.ts'
import type { Judged } from './judge-block.ts'
import { shortText } from './short-text.ts'

/** The failure of a block side whose gates did not hold, with each failed gate as feedback. */
export function gateFailure(phase: 'pre' | 'post', { verdicts, composed }: Judged): Failure {
  const failed = verdicts.filter(({ name }) => composed.failed.includes(name))
  const ask = composed.action === 'ask' ? { ask: `${phase}_gates` as const } : {}
  return {
    code: `${phase}_gate_failed`,
    retry: composed.action === 'retry',
    ...ask,
    ...wordsOf(`${phase}-gate`, failed),
  }
}

/** The failure of a move that a gate of the task does not let pass; undefined = all hold. Another try changes nothing. */
export function taskRefusal(verdicts: readonly Verdict[]): Failure | undefined {
  const failed = verdicts.filter(({ passed }) => !passed)
  if (failed.length === 0) return undefined
  return { code: 'task_gate_refused', retry: false, ...wordsOf('task gate', failed) }
}

function wordsOf(kind: string, failed: readonly Verdict[]): Pick<Failure, 'reason' | 'feedback' | 'gates'> {
  const words = failed.map(({ name, reason }) => `"${name}" failed: ${reason}`)
  return {
    reason: shortText(`${kind} ${words.join('; ')}`),
    feedback: failed.map(({ name, reason }) => `${name}: ${reason}`),
    gates: failed.map(({ name }) => name),
  }
}
