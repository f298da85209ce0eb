import type { Failure } from './end-attempt.ts'
import type { Judged } from './judge-block.ts'
import { shortText } from './short-text.ts'

/** The failure of a block side whose gates did not hold, with each failed gate as feedback. */
export function gateFailure(phase: 'pre' | 'post', { verdicts, composed }: Judged): Failure {
  const failed = verdicts.filter(({ name }) => composed.failed.includes(name))
  const feedback = failed.map(({ name, reason }) => `${name}: ${reason}`)
  const words = failed.map(({ name, reason }) => `"${name}" failed: ${reason}`)
  const reason = `${phase}-gate ${words.join('; ')}`
  const gates = failed.map(({ name }) => name)
  return {
    code: `${phase}_gate_failed`,
    reason: shortText(reason),
    retry: composed.action === 'retry',
    feedback,
    gates,
  }
}
