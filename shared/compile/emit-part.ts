import type { Retrier } from './asl.ts'
import type { Onward, States } from './emit-block.ts'

/**
 * A part of the DAG that runs as a machine of its own, for size: an execution `<run id>-<k>` with the run's own input,
 * waited for. Only what kept it from being started is tried again: starting is idempotent while it runs. Has it ended
 * meanwhile, its name is taken: then the run goes on. That is safe, since every block after it looks in the store
 * whether its upstream has ended (if the part died it has not, so the block is skipped and the run fails), and no other
 * run has that name. A part that fails fails the run: its name admits no second execution.
 */
export function emitPart(part: number, onward: Onward): States {
  const left = `_left_part_${part}`
  return {
    [`_part_${part}`]: {
      Type: 'Task',
      Resource: 'arn:aws:states:::states:startExecution.sync:2',
      Arguments: {
        StateMachineArn: `\${${placeholderOfPart(part)}}`,
        Name: `{% $states.context.Execution.Input.run_id & '-${part}' %}`,
        Input: '{% $states.context.Execution.Input %}',
      },
      Retry: [NOT_STARTED],
      Catch: [{ ErrorEquals: ALREADY_ENDED, Next: 'Next' in onward ? onward.Next : left, Output: {} }],
      Output: {},
      ...onward,
    },
    ...('Next' in onward ? {} : { [left]: { Type: 'Succeed' } }),
  }
}

export function placeholderOfPart(part: number): string {
  return `Part${part}`
}

const NOT_STARTED: Retrier = {
  ErrorEquals: [
    'StepFunctions.ExecutionLimitExceededException',
    'StepFunctions.ThrottlingException',
    'StepFunctions.ServiceException',
    'StepFunctions.SdkClientException',
  ],
  IntervalSeconds: 2,
  MaxAttempts: 20,
  MaxDelaySeconds: 60,
  JitterStrategy: 'FULL',
}
const ALREADY_ENDED = ['StepFunctions.ExecutionAlreadyExistsException', 'StepFunctions.ExecutionAlreadyExists']
