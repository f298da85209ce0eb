import {
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  Dashboard as Widgets,
} from 'aws-cdk-lib/aws-cloudwatch'
import { Construct } from 'constructs'
import { FIVE_MINUTES, metricOf, stageMetric } from './metrics.ts'
import type { Names } from './names.ts'

export interface DashboardProps {
  readonly names: Names
  readonly apiName: string
}

/** One page of a stage, its name the stage's: runs and people first, then what carries them, then money. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id)
    const page = new Widgets(this, 'Page', { dashboardName: props.names.table })
    const rows = [
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
