import { ArnFormat, Duration, Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import type { Chosen } from './access.ts'
import type { DeployedDag } from './deployed-dags.ts'
import type { Names } from './names.ts'
import { functionsAt, stands } from './placement.ts'

export interface AlarmsProps {
  readonly names: Names
  readonly chosen: Pick<Chosen, 'shell' | 'slack'>
  readonly api: RestApi
  readonly dags: readonly Pick<DeployedDag, 'slug'>[]
  readonly email: string | undefined
}

/** CloudWatch takes ten metrics an expression. */
const METRICS_AN_ALARM = 10

/**
 * What an operator is called for. CloudWatch bills each metric of an alarm, so each thing is watched once: a route's
 * failure is an API error, throttling is the account's. run-block's errors are counted by our own metric: a RetryBlock is
 * an error to Lambda and none to us. A run that fails is no alarm: its machine fails with it, by design.
 */
export class Alarms extends Construct {
  private readonly topic: Topic | undefined

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id)
    this.topic = props.email === undefined ? undefined : this.addTopic(props.email)
    const { names, chosen, api, dags } = props
    const machineArns = dags.map(({ slug }) => machineArn(Stack.of(this), names.machine(slug)))
    const unanswered = [...functionsAt('machine'), ...functionsAt('unseen'), ...functionsAt('called')].filter(
      (line) => line.name !== 'run-block' && stands(line, chosen),
    )
    this.sum(
      'FunctionErrors',
      unanswered.map(({ name }) => lambdaMetric('Errors', names.function(name))),
      1,
    )
    this.sum(
      'UnexpectedErrors',
      ['run-block', 'sweep'].map((name) => unexpectedErrors(names.stage, name)),
      1,
    )
    this.sum('FunctionThrottles', [metricOf('AWS/Lambda', 'Throttles', {})], 10)
    this.sum(
      'MachinesTimedOut',
      machineArns.map((arn) => machineMetric('ExecutionsTimedOut', arn)),
      1,
    )
    this.sum(
      'MachinesThrottled',
      machineArns.map((arn) => machineMetric('ExecutionThrottled', arn)),
      1,
    )
    this.sum(
      'TableThrottles',
      ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) => tableMetric(name, names.table)),
      10,
    )
    this.sum('DeadLetters', [queueMetric(names.deadLetters)], 1)
    this.sum('ApiErrors', [api.metricServerError({ period: FIVE_MINUTES, statistic: 'Sum' })], 5)
    this.silent('SilentSweep', lambdaMetric('Invocations', names.function('sweep')))
  }

  /** The sum of the metrics within five minutes, ten metrics an alarm. */
  private sum(name: string, metrics: readonly IMetric[], threshold: number): void {
    for (let from = 0; from < metrics.length; from += METRICS_AN_ALARM) {
      const part = metrics.slice(from, from + METRICS_AN_ALARM)
      const usingMetrics = Object.fromEntries(part.map((metric, i) => [`m${i}`, metric]))
      const expression = part.map((_, i) => `FILL(m${i}, 0)`).join(' + ')
      const metric = new MathExpression({ expression, usingMetrics, period: FIVE_MINUTES, label: name })
      const id = from === 0 ? name : `${name}${from / METRICS_AN_ALARM + 1}`
      this.add(
        id,
        { metric, threshold, comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD },
        false,
      )
    }
  }

  /** No call at all in two periods of five minutes. */
  private silent(name: string, metric: IMetric): void {
    this.add(name, { metric, threshold: 1, comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD }, true)
  }

  private add(
    id: string,
    what: { readonly metric: IMetric; readonly threshold: number; readonly comparisonOperator: ComparisonOperator },
    missingIsBad: boolean,
  ): void {
    const treatMissingData = missingIsBad ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING
    const alarm = new Alarm(this, id, { ...what, evaluationPeriods: missingIsBad ? 2 : 1, treatMissingData })
    if (this.topic !== undefined) alarm.addAlarmAction(new SnsAction(this.topic))
  }

  private addTopic(email: string): Topic {
    const topic = new Topic(this, 'Topic', { enforceSSL: true })
    topic.addSubscription(new EmailSubscription(email))
    return topic
  }
}

const FIVE_MINUTES = Duration.minutes(5)

function metricOf(namespace: string, metricName: string, dimensionsMap: Record<string, string>): Metric {
  return new Metric({ namespace, metricName, dimensionsMap, period: FIVE_MINUTES, statistic: 'Sum' })
}

function lambdaMetric(name: string, FunctionName: string): Metric {
  return metricOf('AWS/Lambda', name, { FunctionName })
}

/** Written by functions/aws/log.ts. */
function unexpectedErrors(stage: string, name: string): Metric {
  return metricOf('Sluice', 'unexpected_errors', { stage, function: name })
}

function machineMetric(name: string, StateMachineArn: string): Metric {
  return metricOf('AWS/States', name, { StateMachineArn })
}

function tableMetric(name: string, TableName: string): Metric {
  return metricOf('AWS/DynamoDB', name, { TableName })
}

function queueMetric(QueueName: string): Metric {
  return metricOf('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName }).with({ statistic: 'Maximum' })
}

function machineArn(stack: Stack, resourceName: string): string {
  const arnFormat = ArnFormat.COLON_RESOURCE_NAME
  return stack.formatArn({ service: 'states', resource: 'stateMachine', resourceName, arnFormat })
}
