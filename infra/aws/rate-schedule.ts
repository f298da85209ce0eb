import type { Duration } from 'aws-cdk-lib'
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'

interface RateScheduleProps {
  readonly called: IFunction
  readonly every: Duration
  readonly deadLetters: IQueue
}

/** Calls a function with `{}` at a rate. A missed call is made good by the next: an old one is worth nothing. */
export class RateSchedule extends Construct {
  constructor(scope: Construct, id: string, { called, every, deadLetters }: RateScheduleProps) {
    super(scope, id)
    const event = RuleTargetInput.fromObject({})
    const target = new LambdaFunction(called, {
      event,
      deadLetterQueue: deadLetters,
      maxEventAge: every,
      retryAttempts: 0,
    })
    new Rule(this, 'Rule', { schedule: Schedule.rate(every), targets: [target] })
  }
}
