import { Duration } from 'aws-cdk-lib'
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { MAIN_TENANT } from '../../shared/principal.ts'

interface IndexScheduleProps {
  readonly indexGraph: IFunction
  readonly deadLetters: IQueue
  readonly tenant: string
}

/**
 * Of one tenant: indexes each minute what a writer put whose own call of index-graph was lost, and each day restarts the age of what
 * the graph needs (docs/adr/0045).
 */
export class IndexSchedule extends Construct {
  constructor(scope: Construct, id: string, { indexGraph, deadLetters, tenant }: IndexScheduleProps) {
    super(scope, id)
    const target = (event: object, maxEventAge: Duration, retryAttempts: number) =>
      new LambdaFunction(indexGraph, {
        event: RuleTargetInput.fromObject(event),
        deadLetterQueue: deadLetters,
        maxEventAge,
        retryAttempts,
      })
    // The main one is whom a call without a tenant is about.
    const of = tenant === MAIN_TENANT ? {} : { tenant }
    // A missed one is made good by the next.
    const minute = target(of, Duration.minutes(1), 0)
    new Rule(this, 'Minute', { schedule: Schedule.rate(Duration.minutes(1)), targets: [minute] })
    const day = target({ ...of, keep: {} }, Duration.hours(12), 10)
    new Rule(this, 'Day', { schedule: Schedule.rate(Duration.days(1)), targets: [day] })
  }
}
