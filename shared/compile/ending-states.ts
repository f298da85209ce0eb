import type { States } from './emit-block.ts'
import { callFunction } from './function-task.ts'

/** Some eight minutes: an execution that failed after `_settle` gave its run a verdict would contradict it for good. */
const TO_THE_END = { MaxAttempts: 20, MaxDelaySeconds: 60 } as const

/**
 * How every machine of ours ends: `_settle` gives the run its verdict, the Choice after it the execution its status. A
 * run that is judged by more than its blocks is evaluated in between, once: a run without that never comes there.
 */
export const ENDING: States = {
  _settle: { ...callFunction('settle', {}, TO_THE_END), Output: '{% $states.result.Payload %}', Next: '_end' },
  _end: {
    Type: 'Choice',
    Choices: [
      { Condition: "{% $states.input.end in ['completed', 'partial', 'blocked', 'iterated'] %}", Next: '_done' },
      { Condition: "{% $states.input.end = 'decide' %}", Next: '_decide_completion' },
    ],
    Default: '_failed',
  },
  _decide_completion: { ...callFunction('decide-completion', {}, TO_THE_END), Output: {}, Next: '_settle' },
  _done: { Type: 'Succeed' },
  _failed: {
    Type: 'Fail',
    Error: 'RunFailed',
    // A run that was cancelled has an end but no code.
    Cause: "{% $states.input.(code ? code : end) & ' ' & $states.context.Execution.Input.run_id %}",
  },
}
