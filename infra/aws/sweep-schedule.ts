import { Duration } from 'aws-cdk-lib'
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'

/** Sweeps each minute: it also finds executions whose end the status-change rule missed (design decisions, "Effects"). */
export class SweepSchedule extends Construct {
  constructor(scope: Construct, id: string, props: { readonly sweep: IFunction; readonly deadLetters: IQueue }) {
    super(scope, id)
    const target = new LambdaFunction(props.sweep, {
      event: RuleTargetInput.fromObject({}),
      deadLetterQueue: props.deadLetters,
      // A missed sweep is made good by the next one: an old event is worth nothing.
      maxEventAge: Duration.minutes(1),
      retryAttempts: 0,
    })
    new Rule(this, 'Rule', { schedule: Schedule.rate(Duration.minutes(1)), targets: [target] })
  }
}
