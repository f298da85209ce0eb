import { ArnFormat, Duration, Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  Metric,
  TreatMissingData,
  Dashboard as Widgets,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import type { ChosenRights } from './access.ts'
import type { DeployedDag } from './deployed-dags.ts'
import { functionsIn, isDeployed } from './function-sizes.ts'
import type { Names } from './names.ts'

interface AlarmsProps {
  readonly names: Names
  readonly chosen: Pick<
    ChosenRights,
    'shell' | 'slack' | 'auth' | 'anchors' | 'triggers' | 'drops' | 'tenants' | 'buses' | 'releases'
  >
  readonly api: RestApi
  readonly dags: readonly Pick<DeployedDag, 'slug'>[]
  readonly email: string | undefined
  /** Id of the release that is deployed, where releases are gradual. */
  readonly release: string | undefined
}

/** Routes that answer at once; a stream of events is as slow as its run. Measured at the function: the API's own latency mixes both. */
const ASKED_OFTEN = ['get-run', 'list-runs', 'list-approvals', 'decide-approval', 'start-run'] as const

/** CloudWatch takes ten metrics an expression. */
const METRICS_AN_ALARM = 10

/**
 * What an operator is called for. CloudWatch bills each metric of an alarm, so each thing is watched once: a route's
 * failure is an API error, throttling is the account's. run-block's errors are counted by our own metric: a RetryBlock is
 * an error to Lambda and none to us; so is each event for a webhook or a bus that was given up, which is an error line and no failed call. A run that fails is no alarm: its machine fails with it, by design.
 */
export class Alarms extends Construct {
  private readonly topic: Topic | undefined
  private readonly prefix: string

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id)
    this.prefix = props.names.whole
    this.topic = props.email === undefined ? undefined : this.addTopic(props.email)
    const { names, chosen, api, dags } = props
    const machineArns = dags.map(({ slug }) => machineArn(Stack.of(this), names.machine(slug)))
    const unanswered = (['machine', 'unseen', 'called', 'guard'] as const)
      .flatMap(functionsIn)
      .filter((line) => line.name !== 'run-block' && isDeployed(line, chosen))
    this.sum(
      'FunctionErrors',
      unanswered.map(({ name }) => lambdaMetric('Errors', names.function(name))),
      1,
    )
    const watched = [
      'run-block',
      'sweep',
      'send-webhooks',
      ...((chosen.buses ?? []).length > 0 ? ['send-bus-events'] : []),
    ]
    this.sum(
      'UnexpectedErrors',
      watched.map((name) => unexpectedErrors(names.stage, name)),
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
    if (chosen.triggers === true) this.addOfTriggers(names, chosen.drops === true)
    this.addOfRuns(names, chosen)
    if (props.release !== undefined) this.addOfRelease(names.stage, props.release)
  }

  /** A firing that failed is an error line of who kept or started it; triggers nobody looks at start nothing. */
  private addOfTriggers({ stage, function: functionName }: Names, drops: boolean): void {
    const keepers = ['fire-triggers', 'take-webhook', 'fire-trigger', ...(drops ? ['take-object'] : [])]
    const fail = keepers.map((name) => unexpectedErrors(stage, name))
    this.sum('TriggersFailed', fail, 1)
    this.silent('SilentTriggers', lambdaMetric('Invocations', functionName('fire-triggers')))
  }

  /** What runs and the time they take tell, by metrics of our own where AWS has none. */
  private addOfRuns({ stage, function: functionName }: Names, { tenants }: AlarmsProps['chosen']): void {
    this.sum('RunsFailed', [stageMetric(stage, 'runs_failed')], 10)
    this.addFailureRate(stage)
    this.sum('BudgetsExceeded', [stageMetric(stage, 'budgets_exceeded')], 1)
    const age = lambdaMetric('AsyncEventAge', functionName('send-outbox')).with({ statistic: 'Maximum' })
    this.above('OutboxAge', age, 60_000, 1)
    // It asks for a hundred until there are fewer, while it has time: never fewer is more than it gets done.
    this.above('SweepBehind', stageMetric(stage, 'runs_due').with({ statistic: 'Minimum' }), 100, 2)
    // A sweep tells it of each tenant: where there are several, one that has none must not hide another.
    const statistic = tenants.length > 1 ? 'Maximum' : 'Minimum'
    this.above('PlacesLeaked', stageMetric(stage, 'places_overdue').with({ statistic }), 1, 2)
    const slow = ASKED_OFTEN.map((name) => lambdaMetric('Duration', functionName(name)).with({ statistic: 'p95' }))
    const usingMetrics = Object.fromEntries(slow.map((metric, i) => [`m${i}`, metric]))
    const expression = `MAX([${Object.keys(usingMetrics)
      .map((id) => `FILL(${id}, 0)`)
      .join(', ')}])`
    this.above(
      'ApiSlow',
      new MathExpression({ expression, usingMetrics, period: FIVE_MINUTES, label: 'ApiSlow' }),
      5_000,
      2,
    )
  }

  /** Of the runs that ended in a quarter of an hour, twice in a row; of fewer than five each is told of by who started it. */
  private addFailureRate(stage: string): void {
    const usingMetrics = endsOf(stage)
    const expression = `IF(${ENDED} >= 5, ${FAILED_PERCENT}, 0)`
    const period = Duration.minutes(15)
    const metric = new MathExpression({ expression, usingMetrics, period, label: 'FailureRate' })
    this.above('FailureRate', metric, FAILURE_PERCENT, 2)
  }

  /** As FailureRate, of the runs that began with the deployed release alone: guard-release takes it back. */
  private addOfRelease(stage: string, release: string): void {
    const ends = ['failed', 'completed', 'partial', 'died'].map(
      (end) => [end, metricOf('Sluice', `runs_${end}`, { stage, release })] as const,
    )
    const usingMetrics = Object.fromEntries(ends)
    const failed = '(FILL(failed, 0) + FILL(died, 0))'
    const ended = `(${failed} + FILL(completed, 0) + FILL(partial, 0))`
    const expression = `IF(${ended} >= 5, 100 * ${failed} / ${ended}, 0)`
    const period = Duration.minutes(15)
    const metric = new MathExpression({ expression, usingMetrics, period, label: 'ReleaseFailureRate' })
    this.above('ReleaseFailureRate', metric, FAILURE_PERCENT, 1)
  }

  private above(name: string, metric: IMetric, threshold: number, periods: number): void {
    const comparisonOperator = ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
    this.add(name, { metric, threshold, comparisonOperator, evaluationPeriods: periods })
  }

  /** The sum of the metrics within five minutes, ten metrics an alarm. */
  private sum(name: string, metrics: readonly IMetric[], threshold: number): void {
    for (let from = 0; from < metrics.length; from += METRICS_AN_ALARM) {
      const part = metrics.slice(from, from + METRICS_AN_ALARM)
      const usingMetrics = Object.fromEntries(part.map((metric, i) => [`m${i}`, metric]))
      const expression = part.map((_, i) => `FILL(m${i}, 0)`).join(' + ')
      const metric = new MathExpression({ expression, usingMetrics, period: FIVE_MINUTES, label: name })
      const id = from === 0 ? name : `${name}${from / METRICS_AN_ALARM + 1}`
      this.above(id, metric, threshold, 1)
    }
  }

  /** No call at all in two periods of five minutes. */
  private silent(name: string, metric: IMetric): void {
    const comparisonOperator = ComparisonOperator.LESS_THAN_THRESHOLD
    const treatMissingData = TreatMissingData.BREACHING
    this.add(name, { metric, threshold: 1, comparisonOperator, evaluationPeriods: 2, treatMissingData })
  }

  private add(id: string, what: AlarmProps): void {
    const alarm = new Alarm(this, id, {
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmName: `${this.prefix}-${id}`,
      alarmDescription: `What to do: docs/operate.md, ${id.replace(/\d+$/, '')}`,
      ...what,
    })
    if (this.topic !== undefined) alarm.addAlarmAction(new SnsAction(this.topic))
  }

  private addTopic(email: string): Topic {
    const topic = new Topic(this, 'Topic', { enforceSSL: true })
    topic.addSubscription(new EmailSubscription(email))
    return topic
  }
}

function lambdaMetric(name: string, FunctionName: string): Metric {
  return metricOf('AWS/Lambda', name, { FunctionName })
}

/** Written by functions/aws/core.ts. */
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

interface DashboardProps {
  readonly names: Names
  readonly apiName: string
}

/** One page of a stage, its name the stage's: whether it keeps what is promised, runs and people, what carries them, money. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id)
    const page = new Widgets(this, 'Page', { dashboardName: props.names.whole })
    const rows = [
      objectivesRow(props),
      runsRow(props.names),
      blocksRow(props.names),
      doorRow(props),
      behindRow(props.names),
      moneyRow(props.names),
    ]
    for (const row of rows) page.addWidgets(...row)
  }
}

const THIRD = 8

/** Runs that failed, of a hundred that ended: an alarm. */
const FAILURE_PERCENT = 20

/** What a stage is held to, of a day; each is a line in its graph (docs/operate.md, "Objectives"). */
const OBJECTIVES = { runs_percent: 99, answers_percent: 99.9, p95_ms: 1_000 } as const

/** Ends that say whether a stage works: who cancels, or lets a gate block, asked for it. */
function endsOf(stage: string) {
  const [failed, completed, partial] = ['failed', 'completed', 'partial'].map((end) =>
    stageMetric(stage, `runs_${end}`),
  )
  return { ...(failed && { failed }), ...(completed && { completed }), ...(partial && { partial }) }
}

const ENDED = '(FILL(failed, 0) + FILL(completed, 0) + FILL(partial, 0))'
const FAILED_PERCENT = `100 * FILL(failed, 0) / ${ENDED}`

function objectivesRow({ apiName, names }: DashboardProps): readonly IWidget[] {
  const period = Duration.days(1)
  const ofApi = (name: string) => metricOf('AWS/ApiGateway', name, { ApiName: apiName })
  const runs = new MathExpression({
    ...{ expression: `100 - ${FAILED_PERCENT}`, usingMetrics: endsOf(names.stage), period },
    label: 'did not fail',
  })
  const answers = new MathExpression({
    expression: '100 - 100 * FILL(errors, 0) / asked',
    usingMetrics: { errors: ofApi('5XXError'), asked: ofApi('Count') },
    ...{ period, label: 'no 5xx' },
  })
  const slow = ['start-run', 'get-run', 'decide-approval'].map((name) =>
    metricOf('AWS/Lambda', 'Duration', { FunctionName: names.function(name) }).with({
      ...{ statistic: 'p95', label: name, period },
    }),
  )
  return [
    objective('Objective: % of runs that do not fail', [runs], OBJECTIVES.runs_percent),
    objective('Objective: % of answers that are no 5xx', [answers], OBJECTIVES.answers_percent),
    objective('Objective: p95 ms of functions', slow, OBJECTIVES.p95_ms),
  ]
}

/** A day a point, and the objective as a line. */
function objective(title: string, left: readonly IMetric[], value: number): IWidget {
  const leftAnnotations = [{ value, label: `objective ${value}` }]
  return new GraphWidget({ title, left: [...left], leftAnnotations, period: Duration.days(1), width: THIRD, height: 6 })
}

function graph(title: string, left: readonly IMetric[], right: readonly IMetric[] = []): IWidget {
  return new GraphWidget({ title, left: [...left], right: [...right], width: THIRD, height: 6 })
}

function runsRow({ stage }: Names): readonly IWidget[] {
  const of = (name: string, label: string) => stageMetric(stage, name).with({ label })
  const ends = ['completed', 'partial', 'blocked', 'failed', 'cancelled', 'iterated']
  const usingMetrics = {
    asked: of('approvals_requested', 'asked'),
    decided: of('approvals_decided', 'decided'),
    expired: of('approvals_expired', 'expired'),
  }
  const waiting = new MathExpression({
    expression: 'RUNNING_SUM(FILL(asked, 0)) - RUNNING_SUM(FILL(decided, 0)) - RUNNING_SUM(FILL(expired, 0))',
    label: 'more waiting than at the left edge',
    usingMetrics,
    period: FIVE_MINUTES,
  })
  return [
    graph(
      'Runs by end',
      ends.map((end) => of(`runs_${end}`, end)),
    ),
    graph('Active runs', [of('runs_active', 'active').with({ statistic: 'Maximum' })], [of('runs_started', 'started')]),
    graph('Waiting for people', [waiting], Object.values(usingMetrics)),
  ]
}

function blocksRow({ stage }: Names): readonly IWidget[] {
  const of = (name: string, label: string) => stageMetric(stage, name).with({ label })
  const waited = (statistic: string) => of('provider_ms', statistic).with({ statistic })
  return [
    graph('Blocks', [
      of('blocks_completed', 'completed'),
      of('blocks_failed', 'failed'),
      of('blocks_retried', 'tried again'),
    ]),
    graph('Gates', [of('gates_passed', 'passed'), of('gates_failed', 'failed')]),
    graph('Providers: ms an answer, throttled', ['p50', 'p95', 'p99'].map(waited), [
      of('provider_throttles', 'throttled'),
    ]),
  ]
}

function doorRow({ apiName, names }: DashboardProps): readonly IWidget[] {
  const of = (name: string) => metricOf('AWS/ApiGateway', name, { ApiName: apiName })
  const slow = ['get-run', 'list-runs', 'decide-approval', 'start-run'].map((name) =>
    metricOf('AWS/Lambda', 'Duration', { FunctionName: names.function(name) }).with({ statistic: 'p95', label: name }),
  )
  return [
    graph('API: requests, 4xx, 5xx', [of('Count'), of('4XXError'), of('5XXError')]),
    graph('API: p95 ms of functions', slow),
    graph('API: ms with streams', [
      of('Latency').with({ statistic: 'p50' }),
      of('IntegrationLatency').with({ statistic: 'p50' }),
    ]),
  ]
}

function behindRow({ stage, deadLetters, function: functionName }: Names): readonly IWidget[] {
  const ofFunction = (name: string, metric: string) =>
    metricOf('AWS/Lambda', metric, { FunctionName: functionName(name) })
  const waits = ['send-outbox', 'send-webhooks', 'start-run'].map((name) =>
    ofFunction(name, 'AsyncEventAge').with({ statistic: 'Maximum', label: name }),
  )
  const letters = metricOf('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName: deadLetters })
  const sweep = [stageMetric(stage, 'runs_due'), stageMetric(stage, 'places_overdue')]
  return [
    graph('Oldest call that waits, ms', waits),
    graph('Dead letters', [letters.with({ statistic: 'Maximum' })]),
    graph(
      'Sweep: calls, errors; runs due, places overdue',
      [ofFunction('sweep', 'Invocations'), ofFunction('sweep', 'Errors')],
      sweep.map((metric) => metric.with({ statistic: 'Maximum' })),
    ),
  ]
}

function moneyRow({ stage, table }: Names): readonly IWidget[] {
  const of = (name: string) => stageMetric(stage, name)
  const units = ['ConsumedWriteCapacityUnits', 'ConsumedReadCapacityUnits'].map((name) =>
    metricOf('AWS/DynamoDB', name, { TableName: table }),
  )
  return [
    graph('Models: US dollars, tokens', [of('usd')], [of('tokens')]),
    graph('Budgets exceeded', [of('budgets_exceeded')]),
    graph('Table: units', units),
  ]
}

const FIVE_MINUTES = Duration.minutes(5)

/** The sum within five minutes; `with` makes it another statistic. */
function metricOf(namespace: string, metricName: string, dimensionsMap: Record<string, string>): Metric {
  return new Metric({ namespace, metricName, dimensionsMap, period: FIVE_MINUTES, statistic: 'Sum' })
}

/** Of the whole stage, written by functions/aws/run-store/run-metrics.ts. */
function stageMetric(stage: string, name: string): Metric {
  return metricOf('Sluice', name, { stage })
}
