import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { App, Stack, Validations } from 'aws-cdk-lib'
import { Bucket } from 'aws-cdk-lib/aws-s3'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acknowledgementsFor } from '../../../infra/aws/cdk-nag-acknowledgements.ts'
import { isDeployed } from '../../../infra/aws/function-sizes.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { ROUTES } from '../../../shared/routes.ts'
import { RUN_TABLE } from '../../../shared/runs/dynamodb-table.ts'
import { WHOLE } from '../../how-much.ts'
import { assembled } from './assembled.ts'
import { assembledWithAll } from './assembled-with-all.ts'
import { ROOT, STACKS, textOf } from './assembly.ts'
import { cdkContext, type Synthesized, synthesize } from './synthesized.ts'

let made: Synthesized

beforeAll(async () => {
  // With everything a deployment can choose.
  made = await synthesize({ 'sluice:alarm_email': 'ops@example.com' }, undefined, 'placeholders')
}, 240_000)
afterAll(() => made.remove())

/** What the settings ask for stands besides (gate-functions.test.ts, slack-stack.test.ts). */
const STANDING = FUNCTIONS.filter((line) => isDeployed(line, { shell: false }))
const SERVED = ROUTES.filter(({ name }) => STANDING.some((line) => line.name === name))

/** Of one resource. */
const only = (type: string) => {
  const found = made.all(type)
  expect(found).toHaveLength(1)
  return found[0] ?? { id: '', Type: '', Properties: {} }
}

describe('the templates', () => {
  // CloudFormation takes 500. A route is six, and a workspace, bearers and triggers bring up to fifty more.
  test('have at most 440 resources each, and 490 with all that settings may ask for', async () => {
    const counts = STACKS.map((stack) => [stack, Object.keys(made.template(stack)).length] as const)
    process.stdout.write(`resources: ${counts.map((pair) => pair.join(' ')).join(', ')}\n`)
    expect(counts.filter(([, count]) => count > 440)).toEqual([])
    const all = await assembledWithAll()
    const most = STACKS.map((stack) => [stack, Object.keys(all.template(stack)).length] as const)
    process.stdout.write(`with all: ${most.map((pair) => pair.join(' ')).join(', ')}\n`)
    expect(most.filter(([, count]) => count > 490)).toEqual([])
  }, 240_000)

  test('name no account, no region and no value of another stack', () => {
    for (const stack of STACKS) {
      const text = readFileSync(join(made.out, `${stack}.template.json`), 'utf8')
      expect(text).not.toMatch(
        /\b\d{12}\b|ImportValue|GetStackOutput|\b[a-z]{2}-(north|south|east|west|central)\w*-\d\b/,
      )
    }
    expect(made.app.node.findAll().filter((node) => Stack.isStack(node))).toHaveLength(STACKS.length)
  })

  test('are what cfn-lint finds nothing in', (context) => {
    if (!WHOLE) return context.skip('asked in npm run test:all')
    if (spawnSync('cfn-lint', ['--version']).status !== 0) {
      process.stdout.write('cfn-lint: not on PATH, so not asked\n')
      return context.skip('cfn-lint is not on PATH')
    }
    // W3005: CDK repeats a dependency that an attribute already makes.
    const files = STACKS.map((stack) => join(made.out, `${stack}.template.json`))
    const { stdout, stderr } = spawnSync('cfn-lint', ['--ignore-checks', 'W3005', '--', ...files], { encoding: 'utf8' })
    expect(stdout + stderr).toBe('')
  }, 400_000)
})

describe('cdk-nag', () => {
  test('AwsSolutions and Serverless find nothing that is not acknowledged', () => {
    const findings = [new AwsSolutionsChecks(made.app), new ServerlessChecks(made.app)].flatMap((pack) =>
      pack
        .validateScope(made.app)
        .violations.map(({ ruleName, violatingResources }) => [
          ruleName,
          violatingResources.map(({ constructPath }) => constructPath),
        ]),
    )
    expect(findings).toEqual([])
  })

  test('is acknowledged at most eight times, each with a reason, and each is needed', () => {
    const acknowledged = acknowledgementsFor(stageNames('dev'))
    expect(acknowledged.length).toBeLessThanOrEqual(8)
    const bare = new Set(
      [new AwsSolutionsChecks(), new ServerlessChecks()].flatMap((pack) => {
        // The same rules with every acknowledgement taken out.
        Object.assign(pack, { isAcknowledged: () => false })
        return pack.validateScope(made.app).violations.map(({ ruleName }) => ruleName)
      }),
    )
    expect([...bare].sort()).toEqual(acknowledged.flatMap(({ rules }) => rules).toSorted())
    for (const { rules, reason } of acknowledged) process.stdout.write(`acknowledged: ${rules.join(', ')}: ${reason}\n`)
    expect(acknowledged.filter(({ reason }) => reason.length < 20)).toEqual([])
  })

  test('fails the synthesis of an app that has an open bucket', () => {
    const app = new App({ context: cdkContext() })
    new Bucket(new Stack(app, 'Planted'), 'Open')
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
    expect(() => app.synth()).toThrow(/valid/i)
  })
})

describe('data', () => {
  test('one table: on demand, recoverable, encrypted, protected, with the shape the store writes', () => {
    const { Properties, DeletionPolicy } = only('AWS::DynamoDB::Table')
    expect(DeletionPolicy).toBe('Retain')
    expect(Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { SSEEnabled: true },
      TimeToLiveSpecification: { AttributeName: RUN_TABLE.ttl, Enabled: true },
      KeySchema: [
        { AttributeName: RUN_TABLE.hash, KeyType: 'HASH' },
        { AttributeName: RUN_TABLE.range, KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: RUN_TABLE.indexes.map(({ name, hash, range, include }) => ({
        IndexName: name,
        KeySchema: [
          { AttributeName: hash, KeyType: 'HASH' },
          { AttributeName: range, KeyType: 'RANGE' },
        ],
        Projection: include.length === 0 ? { ProjectionType: 'KEYS_ONLY' } : { NonKeyAttributes: include },
      })),
    })
  })

  test('buckets: nothing public, TLS only, encrypted, versioned, ending', () => {
    const buckets = made.all('AWS::S3::Bucket')
    const policies = made.all('AWS::S3::BucketPolicy').map(({ Properties }) => JSON.stringify(Properties))
    expect(buckets).toHaveLength(2)
    for (const { id, Properties, DeletionPolicy } of buckets) {
      expect(DeletionPolicy).toBe('Retain')
      expect(Object.values(Properties.PublicAccessBlockConfiguration ?? {})).toEqual([true, true, true, true])
      expect(Properties).toMatchObject({ VersioningConfiguration: { Status: 'Enabled' } })
      expect(JSON.stringify(Properties.BucketEncryption)).toContain('AES256')
      expect(JSON.stringify(Properties.LifecycleConfiguration)).toMatch(/"ExpirationInDays":\d+/)
      expect(policies.find((policy) => policy.includes(id))).toMatch(/"aws:SecureTransport":"false".*"Deny"/)
    }
  })

  test('the stack cannot be deleted by mistake', () => {
    const stack = made.app.node.findChild('SluiceData')
    expect(Stack.isStack(stack) && stack.terminationProtection).toBe(true)
  })
})

describe('functions', () => {
  const functions = () =>
    made
      .all('AWS::Lambda::Function')
      .map(({ Properties }) => ({ name: textOf(Properties.FunctionName), ...Properties }))

  test('one a line of the catalog, each on arm64, Node 24, traced, with time, memory and a log that ends', () => {
    expect(
      functions()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(STANDING.map(({ name }) => `sluice-dev-${name}`).sort())
    const logs = new Map(made.all('AWS::Logs::LogGroup').map((group) => [group.id, group.Properties]))
    for (const found of functions()) {
      expect(found).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        TracingConfig: { Mode: 'Active' },
        Timeout: expect.any(Number),
        MemorySize: expect.any(Number),
      })
      const group = /<(\w+)>/.exec(
        textOf((found as { LoggingConfig?: { LogGroup: unknown } }).LoggingConfig?.LogGroup),
      )?.[1]
      expect(logs.get(group ?? '')).toMatchObject({ LogGroupName: `/aws/lambda/${found.name}`, RetentionInDays: 30 })
    }
  })

  test('run-block has 15 minutes, streams a little more than the five they are open, and 128 MB', () => {
    const byName = new Map(functions().map((found) => [found.name, found]))
    expect(byName.get('sluice-dev-run-block')).toMatchObject({ Timeout: 900 })
    expect(byName.get('sluice-dev-stream-events')).toMatchObject({ Timeout: 330, MemorySize: 128 })
  })

  test('what must go on however many streams are open has executions of its own', () => {
    const reserved = functions().filter((found) => 'ReservedConcurrentExecutions' in found)
    expect(
      Object.fromEntries(reserved.map((found) => [found.name, Object(found).ReservedConcurrentExecutions])),
    ).toEqual({
      'sluice-dev-decide-approval': 10,
      'sluice-dev-stop-all': 2,
      'sluice-dev-stop-run': 10,
      'sluice-dev-sweep': 2,
    })
  })

  test('each has a role of its own', () => {
    const roles = functions().map((found) => textOf((found as { Role?: unknown }).Role))
    expect(new Set(roles).size).toBe(STANDING.length)
    expect(made.all('AWS::IAM::Policy')).toEqual([])
    expect(made.all('AWS::IAM::Role').filter(({ Properties }) => 'ManagedPolicyArns' in Properties)).toEqual([])
  })

  test('are told names and ARNs, never a secret', () => {
    for (const { id, Properties } of made.all('AWS::Lambda::Function')) {
      const { Variables } = Properties.Environment as { Variables: Record<string, unknown> }
      const odd = Object.keys(Variables).filter((name) => !/^(STAGE|TABLE|BUCKET|ANCHORS|[A-Z_]+_ARN)$/.test(name))
      expect([id, ...odd]).toEqual([id])
      expect(JSON.stringify(Variables)).not.toMatch(/resolve:|password|secret/i)
    }
  })

  test('those that nobody waits for have dead letters', () => {
    const asynchronous = functions().filter((found) => 'DeadLetterConfig' in found)
    expect(asynchronous.map(({ name }) => name).sort()).toEqual(
      [
        'clear-machines',
        'index-graph',
        'keep-or-erase',
        'reconcile',
        'run-bulk',
        'send-outbox',
        'send-webhooks',
        'start-run',
        'sweep',
      ].map((name) => `sluice-dev-${name}`),
    )
  })

  test('sweep and index-graph are called each minute, clear-machines each hour, with nothing; reconcile with what happened to machines of this stage', () => {
    const rules = made.all('AWS::Events::Rule').map(({ Properties }) => Properties)
    expect(rules.filter(({ ScheduleExpression }) => ScheduleExpression !== undefined)).toMatchObject([
      { ScheduleExpression: 'rate(1 minute)', State: 'ENABLED', Targets: [{ Input: '{}' }] },
      { ScheduleExpression: 'rate(1 hour)', State: 'ENABLED', Targets: [{ Input: '{}' }] },
      { ScheduleExpression: 'rate(1 minute)', State: 'ENABLED', Targets: [{ Input: '{}' }] },
      { ScheduleExpression: 'rate(1 day)', State: 'ENABLED', Targets: [{ Input: '{"keep":{}}' }] },
    ])
    const changes = rules.filter(({ EventPattern }) => EventPattern !== undefined)
    expect(changes).toHaveLength(1)
    expect(changes[0]).toMatchObject({ State: 'ENABLED', EventPattern: { source: ['aws.states'] } })
    expect(JSON.stringify(changes[0])).toMatch(/sluice-dev-/)
    expect(JSON.stringify(changes[0]?.Targets)).toMatch(/reconcileFunction/)
  })
})

describe('the API', () => {
  const methods = () => made.all('AWS::ApiGateway::Method').map(({ Properties }) => Properties)

  test('has every route of the catalog, signed by IAM but for the one whose address is its right, and no other', () => {
    const resources = new Map(made.all('AWS::ApiGateway::Resource').map(({ id, Properties }) => [id, Properties]))
    const pathOf = (ref: unknown): string => {
      const found = resources.get(/^<(\w+)>$/.exec(textOf(ref))?.[1] ?? '')
      return found === undefined ? '' : `${pathOf(found.ParentId)}/${found.PathPart}`
    }
    const routes = methods().map(({ HttpMethod, ResourceId }) => `${HttpMethod} ${pathOf(ResourceId)}`)
    expect(routes.sort()).toEqual(SERVED.map(({ method, path }) => `${method} ${path}`).sort())
    const open = methods().filter(({ AuthorizationType }) => AuthorizationType !== 'AWS_IAM')
    expect(open.map(({ HttpMethod, ResourceId }) => `${HttpMethod} ${pathOf(ResourceId)}`)).toEqual([
      'POST /api/callbacks/{token}',
    ])
  })

  test('streams where the catalog says so', () => {
    const streaming = methods().filter(({ Integration }) => JSON.stringify(Integration).includes('"STREAM"'))
    expect(streaming).toHaveLength(ROUTES.filter(({ stream }) => stream === true).length)
    expect(JSON.stringify(streaming[0])).toMatch(/streamevents.*response-streaming-invocations/)
    expect(streaming[0]).toMatchObject({ Integration: { TimeoutInMillis: 900_000 } })
  })

  test('is regional, throttled, logged and lets each function be called by its own route only', () => {
    expect(only('AWS::ApiGateway::RestApi').Properties).toMatchObject({
      EndpointConfiguration: { Types: ['REGIONAL'] },
    })
    const { Properties } = only('AWS::ApiGateway::Stage')
    expect(Properties).toMatchObject({
      MethodSettings: [
        { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100, DataTraceEnabled: false },
        { HttpMethod: 'POST', ResourcePath: '/~1api~1callbacks~1{token}', ThrottlingRateLimit: 20 },
      ],
      AccessLogSetting: {
        Format: expect.stringMatching(
          /requestId.*"principal":"\$context\.authorizer\.principalId","user_arn":"\$context\.identity\.userArn"/,
        ),
      },
    })
    const callers = made
      .all('AWS::Lambda::Permission')
      .filter(({ Properties: p }) => p.Principal === 'apigateway.amazonaws.com')
    expect(callers).toHaveLength(SERVED.length)
    expect(callers.filter(({ Properties: p }) => !/\/(GET|POST|PATCH|PUT|DELETE)\//.test(textOf(p.SourceArn)))).toEqual(
      [],
    )
  })
})

describe('alarms', () => {
  test('are at most twenty, with at most ten metrics each, and send mail where an address is given', () => {
    const alarms = made.all('AWS::CloudWatch::Alarm')
    process.stdout.write(`alarms: ${alarms.length}\n`)
    expect(alarms.length).toBeLessThanOrEqual(20)
    for (const { Properties } of alarms) {
      const metrics = (Properties.Metrics ?? []) as readonly { readonly MetricStat?: unknown }[]
      expect(metrics.filter(({ MetricStat }) => MetricStat !== undefined).length).toBeLessThanOrEqual(10)
      expect(Properties.AlarmActions).toHaveLength(1)
    }
    expect(made.all('AWS::SNS::Subscription')).toMatchObject([{ Properties: { Endpoint: 'ops@example.com' } }])
  })

  test('are the same, and send nothing, where no address is given', {
    tags: ['thorough'],
    timeout: 240_000,
  }, async () => {
    const silent = await assembled()
    expect(silent.all('AWS::SNS::Topic')).toEqual([])
    expect(silent.all('AWS::CloudWatch::Alarm')).toHaveLength(made.all('AWS::CloudWatch::Alarm').length)
  })

  test('run-block is judged by our own metric: its signals are errors to Lambda', () => {
    const alarms = made.all('AWS::CloudWatch::Alarm').map((alarm) => JSON.stringify(alarm))
    const errors = alarms.filter((alarm) => alarm.includes('"AWS/Lambda"') && alarm.includes('"Errors"'))
    expect(errors.filter((alarm) => alarm.includes('sluice-dev-run-block'))).toEqual([])
    expect(alarms.some((alarm) => alarm.includes('unexpected_errors') && alarm.includes('run-block'))).toBe(true)
  })
})

test('the folder of the repository is where nothing was written', () => {
  expect(made.out.startsWith(ROOT)).toBe(false)
})
