import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence, quoted } from './one-sentence.ts'

const FinishReasonSchema = z.strictObject({
  allowed: z.array(z.string().min(1).max(100)).min(1).max(20).default(['stop']),
})
type FinishReason = z.infer<typeof FinishReasonSchema>

export const finishReason: Gate<FinishReason> = {
  type: 'finish_reason',
  summary:
    'Passes when the provider said that this answer ended with one of `allowed` (`stop`: a whole answer; `length` is a cut one); where nothing was dispatched it fails.',
  params: FinishReasonSchema,
  reads: () => [],
  sees: (_, { answer }) => answer?.finish_reason ?? null,
  examples: [
    { check: {}, answer: { provider: 'local', model: 'outline', finish_reason: 'stop' }, passes: true },
    { check: {}, answer: { provider: 'local', model: 'outline', finish_reason: 'length' }, passes: false },
  ],
  check,
}

function check({ allowed }: FinishReason, { answer }: GateFacts): CheckResult {
  if (answer === undefined) {
    const reason = `how the answer ended is not known, must be ${quoted(allowed)}`
    return { passed: false, unfit: true, reason, facts: { allowed } }
  }
  const { finish_reason } = answer
  const seen = `"${oneSentence(finish_reason, 80)}"`
  if (allowed.includes(finish_reason)) return { passed: true, reason: `ended with ${seen}`, facts: { finish_reason } }
  const reason = `must end with ${quoted(allowed)}, ended with ${seen}`
  return { passed: false, reason, facts: { finish_reason, allowed } }
}
