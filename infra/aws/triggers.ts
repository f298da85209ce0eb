import { ArnFormat, Duration, Stack } from 'aws-cdk-lib'
import { Match, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { MAIN_TENANT } from '../../shared/auth/principal.ts'
import type { Names } from './names.ts'

interface OwnCalls {
  readonly names: Names
  readonly deadLetters: IQueue
  readonly tenants: readonly string[]
}

/** Functions that time and events call, by name. */
export function addTriggers(
  scope: Construct,
  functions: ReadonlyMap<string, IFunction>,
  { names, deadLetters, tenants }: OwnCalls,
): void {
  for (const { name, id, every } of RATES) {
    const called = functions.get(name)
    if (called !== undefined) new RateSchedule(scope, id, { called, every, deadLetters })
  }
  const reconcile = functions.get('reconcile')
  if (reconcile !== undefined) new StatusChange(scope, 'StatusChange', { names, reconcile, deadLetters })
  const indexGraph = functions.get('index-graph')
  if (indexGraph === undefined) return
  for (const tenant of tenants) {
    const id = tenant === MAIN_TENANT ? 'Index' : `Index-${tenant}`
    new IndexSchedule(scope, id, { indexGraph, deadLetters, tenant })
  }
}

/**
 * The sweep also finds executions whose end the status-change rule missed (docs/architecture.md, "Effects on the
 * world").
 */
const RATES = [
  { name: 'sweep', id: 'EachMinute', every: Duration.minutes(1) },
  { name: 'clear-machines', id: 'InlineMachines', every: Duration.hours(1) },
] as const

interface RateScheduleProps {
  readonly called: IFunction
  readonly every: Duration
  readonly deadLetters: IQueue
}

/** Calls a function with `{}` at a rate. A missed call is made good by the next: an old one is worth nothing. */
class RateSchedule extends Construct {
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

interface IndexScheduleProps {
  readonly indexGraph: IFunction
  readonly deadLetters: IQueue
  readonly tenant: string
}

/**
 * Of one tenant: indexes each minute what a writer put whose own call of index-graph was lost, and each day restarts the age of what
 * the graph needs (docs/adr/0045).
 */
class IndexSchedule extends Construct {
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

interface StatusChangeProps {
  readonly names: Names
  readonly reconcile: IFunction
  readonly deadLetters: IQueue
}

/**
 * Tells reconcile of an execution of our machines that failed, timed out or was aborted. Step Functions delivers these
 * events as well as it can; the sweep is what may be relied on (docs/architecture.md, "Effects on the world").
 */
class StatusChange extends Construct {
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
