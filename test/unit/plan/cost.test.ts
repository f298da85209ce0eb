import { expect, test } from 'vitest'
import { costTable } from '../../../clients/cli/documents/plan.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { PRICES } from '../../../shared/plan/aws-prices.ts'
import { idleCost } from '../../../shared/plan/idle-cost.ts'
import { planDag } from '../../../shared/plan/plan-dag.ts'
import { filesBelow, readText } from '../docs/markdown.ts'

/** What is said in docs/cost.md of 1,000 runs of each shipped document is what the planner reckons. */
test('docs/cost.md has every shipped document with what 1,000 runs cost', () => {
  const rows = filesBelow(['dags'], '.yaml').map((file) => {
    const parsed = parseDag(readText(file), { name: file.replace(/^.*\/|\.yaml$/g, '') })
    if (!parsed.ok) throw new Error(`${file}: ${JSON.stringify(parsed.errors)}`)
    const known = { durations: {}, default_duration: 1, items: {}, max_parallel: 50 }
    const { cost, transitions, blocks } = planDag(parsed.dag, known)
    const { orchestration_usd_per_1000_runs: own, work_usd_per_1000_runs: work } = cost
    return [parsed.dag.name, String(blocks), String(transitions), `$${own.toFixed(2)}`, `$${work.toFixed(2)}`]
  })
  const page = readText('docs/cost.md')
  const chapter = page.slice(page.indexOf('## 1,000 runs')).split('\n## ')[0] ?? ''
  const told = [...chapter.matchAll(/^\| `([\w-]+)` +\| +(\d+) +\| +(\d+) +\| (\$\S+) +\| (\$\S+) +\|$/gm)]
  expect(told.map(([, ...cells]) => cells)).toEqual(rows)
})

const minute = (id: string) => ({
  Type: 'AWS::Events::Rule',
  Properties: { ScheduleExpression: 'rate(1 minute)', Targets: [{ Arn: { 'Fn::GetAtt': [id, 'Arn'] } }] },
})

test('an empty template costs nothing', () => {
  expect(idleCost({}, PRICES)).toEqual({ lines: [], usd_a_month: 0 })
})

test('alarms are counted by the metrics they stand on, schedules by the memory of what they call', () => {
  const stat = { MetricStat: {} }
  const { lines, usd_a_month } = idleCost(
    {
      One: { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'Errors' } },
      Three: { Type: 'AWS::CloudWatch::Alarm', Properties: { Metrics: [{ Expression: 'x' }, stat, stat, stat] } },
      Sweep: { Type: 'AWS::Lambda::Function', Properties: { MemorySize: 1_024 } },
      Rule: minute('Sweep'),
    },
    PRICES,
  )
  const quantities = Object.fromEntries(lines.map(({ what, quantity }) => [what, quantity]))
  expect(quantities).toMatchObject({
    'metrics of alarms': 4,
    'requests of scheduled functions': 43_200,
    'their GB-seconds': 8_640,
  })
  expect(usd_a_month).toBeCloseTo(
    lines.reduce((sum, { usd }) => sum + usd, 0),
    4,
  )
})

test('a key that several things name is paid once', () => {
  const table = { Type: 'AWS::DynamoDB::Table', Properties: { SSESpecification: { KMSMasterKeyId: 'arn:key' } } }
  expect(idleCost({ A: table, B: table }, PRICES).lines).toEqual([
    { what: 'customer-managed keys', quantity: 1, usd: 1 },
  ])
})

test('sluice plan --cost has a row for each thing AWS bills, with its quantity', () => {
  const parsed = parseDag(readText('dags/basic.yaml'), { name: 'basic' })
  if (!parsed.ok) throw new Error('basic.yaml has errors')
  const { cost } = planDag(parsed.dag, { durations: {}, default_duration: 1, items: {}, max_parallel: 50 })
  const lines = costTable(cost)
  expect(lines).toHaveLength(cost.lines.length + 3)
  expect(lines[0]).toContain(PRICES.as_of)
  expect(lines).toContain('  $0.1250     5,000 state transitions')
})
