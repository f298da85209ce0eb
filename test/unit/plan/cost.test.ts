import { expect, test } from 'vitest'
import { costTable } from '../../../clients/cli/documents/plan.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { PRICES } from '../../../shared/plan/aws-prices.ts'
import { idleCost } from '../../../shared/plan/idle-cost.ts'
import { planDag } from '../../../shared/plan/plan-dag.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
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

test('a step is paid for in a function of its own, and report-step hears of it', () => {
  const document = (handler: string) => ({
    inputs: { text: 'string' },
    blocks: [
      {
        id: 'a',
        mode: 'deterministic',
        inputs: { text: 'string' },
        outputs: { text: 'string' },
        deterministic: { handler },
      },
    ],
  })
  const costOf = (handler: string, steps: Readonly<Record<string, object>> = {}) => {
    const parsed = parseDag(document(handler))
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors))
    const told = { durations: { a: 12 }, default_duration: 1, items: {}, max_parallel: 0 }
    const { cost } = planDag(parsed.dag, told, SettingsSchema.parse({ steps }))
    const of = (what: string) => cost.lines.find((line) => line.what === what)?.quantity ?? 0
    return { requests: of('Lambda requests'), puts: of('objects written'), work: cost.work_usd_per_1000_runs }
  }
  const pass = costOf('pass')
  const step = costOf('./steps/a.ts')
  // open-step, the step, and of report-step begin, end and two looks.
  expect([step.requests, step.puts]).toEqual([pass.requests + 6_000, pass.puts + 3_000])
  expect(step.work / pass.work).toBeCloseTo(768 / 1_024, 4)
  const large = costOf('./steps/a.ts', { './steps/a.ts': { memory_mb: 1_792 } })
  expect(large.work / pass.work).toBeCloseTo(2, 4)
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
