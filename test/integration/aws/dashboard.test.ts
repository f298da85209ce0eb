// @module-tag thorough
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { withRunMetrics } from '../../../functions/aws/run-store/run-metrics.ts'
import { assembled } from './assembled.ts'
import { type Assembly, ROOT, textOf } from './assembly.ts'

let made: Assembly
beforeAll(async () => {
  // Alarms about triggers stand where a document has some, that of a release where releases are gradual.
  made = await assembled({ 'sluice:release': 'gradual' }, undefined, { 'dags/nightly.yaml': NIGHTLY })
}, 240_000)

const NIGHTLY = `name: nightly
blocks: [{ id: a, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }]
triggers: [{ name: early, schedule: { cron: '0 6 * * 1-5', timezone: Europe/Berlin } }]
`

/** Every `[namespace, name, ...]` the page draws, or an expression takes. */
type Drawn = readonly [namespace: string, name: string, ...rest: readonly unknown[]]
interface Widget {
  readonly properties: { readonly title: string; readonly metrics: readonly Drawn[] }
}

function widgets(): readonly Widget[] {
  const [page] = made.all('AWS::CloudWatch::Dashboard')
  return JSON.parse(textOf(page?.Properties.DashboardBody)).widgets
}

const drawn = () =>
  widgets()
    .flatMap(({ properties }) => properties.metrics)
    .filter(([namespace]) => typeof namespace === 'string')
const alarms = () => made.all('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties)
const nameOf = (alarm: Readonly<Record<string, unknown>>) => textOf(alarm.AlarmName).replace(/^sluice-dev-|\d+$/g, '')

/** All names of metrics the code can write, read in its source: a name nobody writes would be drawn empty for ever. */
function written(): ReadonlySet<string> {
  const source = ['functions/aws/run-store/run-metrics.ts', 'functions/aws/machine.ts', 'shared/runs/event-types.ts']
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join()
  expect(withRunMetrics).toBeTypeOf('function')
  return new Set(source.match(/\b(runs|blocks|gates|approvals|budgets|provider|places)_[a-z]+\b|\b(tokens|usd)\b/g))
}

test('the page shows what a stage is held to, runs, people, blocks, providers, the API, what waits, dead letters, the sweep and money', () => {
  const [page] = made.all('AWS::CloudWatch::Dashboard')
  expect(page?.Properties.DashboardName).toBe('sluice-dev')
  expect(widgets().map(({ properties }) => properties.title)).toEqual([
    'Objective: % of runs that do not fail',
    'Objective: % of answers that are no 5xx',
    'Objective: p95 ms of functions',
    'Runs by end',
    'Active runs',
    'Waiting for people',
    'Blocks',
    'Gates',
    'Providers: ms an answer, throttled',
    'API: requests, 4xx, 5xx',
    'API: p95 ms of functions',
    'API: ms with streams',
    'Oldest call that waits, ms',
    'Dead letters',
    'Sweep: calls, errors; runs due, places overdue',
    'Models: US dollars, tokens',
    'Budgets exceeded',
    'Table: units',
  ])
})

test('what it draws of ours is what the store writes, by stage alone', () => {
  const own = drawn().filter(([namespace]) => namespace === 'Sluice')
  expect(own.length).toBeGreaterThan(15)
  expect(own.map(([, name]) => name).filter((name) => !written().has(name))).toEqual([])
  for (const [, name, dimension, value] of own) expect([name, dimension, value]).toEqual([name, 'stage', 'dev'])
})

test('the functions, the table, the queue and the API it names are those of the stage', () => {
  const functions = new Set(made.all('AWS::Lambda::Function').map(({ Properties }) => textOf(Properties.FunctionName)))
  const named = (dimension: string) => [
    ...new Set(drawn().flatMap(([, , key, value]) => (key === dimension ? [String(value)] : []))),
  ]
  expect(named('FunctionName').filter((name) => !functions.has(name))).toEqual([])
  expect(named('TableName')).toEqual(made.all('AWS::DynamoDB::Table').map(({ Properties }) => Properties.TableName))
  expect(named('QueueName')).toEqual(made.all('AWS::SQS::Queue').map(({ Properties }) => Properties.QueueName))
  expect(named('ApiName')).toEqual(made.all('AWS::ApiGateway::RestApi').map(({ Properties }) => Properties.Name))
})

test('alarms stand on what the store writes, too', () => {
  const metrics = alarms().flatMap(({ Namespace, MetricName, Metrics = [] }) => [
    [Namespace, MetricName],
    ...(Metrics as readonly { MetricStat?: { Metric: { Namespace: string; MetricName: string } } }[]).map(
      ({ MetricStat }) => [MetricStat?.Metric.Namespace, MetricStat?.Metric.MetricName],
    ),
  ])
  const own = metrics.filter(([namespace]) => namespace === 'Sluice').map(([, name]) => String(name))
  const unknown = own.filter((name) => name !== 'unexpected_errors' && !written().has(name))
  expect(unknown).toEqual([])
  expect(own).toEqual(expect.arrayContaining(['runs_failed', 'budgets_exceeded', 'runs_due', 'places_overdue']))
})

test('the runbook has a section for each alarm, and none for another', () => {
  const text = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8')
  const chapter = text.slice(text.indexOf('\n## Alarms\n') + 4).split('\n## ')[0] ?? ''
  const told = [...chapter.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
  expect(told.toSorted()).toEqual([...new Set(alarms().map(nameOf))].toSorted())
  for (const alarm of alarms()) expect(alarm.AlarmDescription).toBe(`What to do: docs/operate.md, ${nameOf(alarm)}`)
  // Who is woken wants to know first whether it can wait.
  const [before = '', ...sections] = chapter.split('\n### ')
  const ranked = [...before.matchAll(/^\| ((?:\w+, )*\w+) +\| [^|]+ \| [^|]+ \|$/gm)].flatMap(
    ([, names]) => names?.split(', ') ?? [],
  )
  expect(ranked.filter((name) => name !== 'alarm').toSorted()).toEqual(told.toSorted())
  // Each says what it means, what to type first, what it usually is, and what makes it worse.
  for (const section of sections)
    expect(section).toMatch(/^\w+\n\n\S.{60,}\n\n- First: [\s\S]*(`|```)[\s\S]*\n- Usually: .*\n- Do not: /)
})

test('the runbook names log groups, functions and queues that are there', () => {
  const text = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8')
  const chapter = text.slice(text.indexOf('\n## Alarms\n') + 4).split('\n## ')[0] ?? ''
  const groups = [...chapter.matchAll(/\/aws\/[\w-]+\/sluice-\$STAGE-[a-z-]+[a-z]/g)].map(([name]) =>
    name.replace('$STAGE', 'dev'),
  )
  const there = made.all('AWS::Logs::LogGroup').map(({ Properties }) => textOf(Properties.LogGroupName))
  expect(groups.length).toBeGreaterThan(3)
  expect(groups.filter((name) => !there.includes(name))).toEqual([])
  expect(chapter).toContain(
    `--queue-name ${textOf(made.all('AWS::SQS::Queue')[0]?.Properties.QueueName).replace('dev', '$STAGE')}`,
  )
  // CloudFormation makes a rule's name of its stack's and its own.
  const [, prefix] = /--name-prefix sluice-\$STAGE-machines-(\w+)/.exec(chapter) ?? []
  const rules = made.all('AWS::Events::Rule').filter(({ id }) => id.startsWith(prefix ?? '?'))
  expect(rules.map(({ Properties }) => JSON.stringify(Properties.Targets))).toEqual([expect.stringContaining('sweep')])
})

test('an authorizer that fails is an alarm, where one stands', { timeout: 240_000 }, async () => {
  const token = await assembled({ 'sluice:auth': 'token' })
  const watches = (of: Assembly) => JSON.stringify(of.all('AWS::CloudWatch::Alarm')).includes('sluice-dev-authorize"')
  expect([watches(token), watches(made)]).toEqual([true, false])
})
