import { Duration } from 'aws-cdk-lib'
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'

interface IndexScheduleProps {
  readonly indexGraph: IFunction
  readonly deadLetters: IQueue
}

/**
 * Indexes each minute what a writer put whose own call of index-graph was lost, and each day restarts the age of what
 * the graph needs (docs/adr/0045).
 */
export class IndexSchedule extends Construct {
  constructor(scope: Construct, id: string, { indexGraph, deadLetters }: IndexScheduleProps) {
    super(scope, id)
    const target = (event: object, maxEventAge: Duration, retryAttempts: number) =>
      new LambdaFunction(indexGraph, {
        event: RuleTargetInput.fromObject(event),
        deadLetterQueue: deadLetters,
        maxEventAge,
        retryAttempts,
      })
    // A missed one is made good by the next.
    const minute = target({}, Duration.minutes(1), 0)
    new Rule(this, 'Minute', { schedule: Schedule.rate(Duration.minutes(1)), targets: [minute] })
    const day = target({ keep: {} }, Duration.hours(12), 10)
    new Rule(this, 'Day', { schedule: Schedule.rate(Duration.days(1)), targets: [day] })
  }
}
