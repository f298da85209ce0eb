import { ArnFormat, Duration, Stack } from 'aws-cdk-lib'
import { Match, Rule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import type { Names } from './names.ts'

interface StatusChangeProps {
  readonly names: Names
  readonly reconcile: IFunction
  readonly deadLetters: IQueue
}

/**
 * Tells reconcile of an execution of our machines that failed, timed out or was aborted. Step Functions delivers these
 * events as well as it can; the sweep is what may be relied on (docs/architecture.md, "Effects on the world").
 */
export class StatusChange extends Construct {
  constructor(scope: Construct, id: string, { names, reconcile, deadLetters }: StatusChangeProps) {
    super(scope, id)
    const machines = Stack.of(this).formatArn({
      service: 'states',
      resource: 'stateMachine',
      resourceName: names.machine(''),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
    new Rule(this, 'Rule', {
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: Match.prefix(machines) },
      },
      targets: [
        new LambdaFunction(reconcile, {
          deadLetterQueue: deadLetters,
          maxEventAge: Duration.hours(1),
          retryAttempts: 2,
        }),
      ],
    })
  }
}
