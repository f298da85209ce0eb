import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { App } from 'aws-cdk-lib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Measured,
  measureTemplate,
  QuotaChecks,
  requireMachineRoom,
  requireQuotas,
} from '../../../infra/aws/measure-quotas.ts'
import { withCdkContextSafety } from '../../../infra/aws/stage-settings.ts'
import { AWS_QUOTAS } from '../../../shared/aws-quotas.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { type DynamodbEmulator, startDynamodb } from '../../emulators/dynamodb.ts'
import { assembled } from './assembled.ts'
import { assembledWithAll } from './assembled-with-all.ts'
import { type Assembly, stacksIn } from './assembly.ts'

type Quota = keyof typeof AWS_QUOTAS

function measure(made: Assembly): readonly Measured[] {
  return stacksIn(made.out).flatMap((stack) => measureTemplate(stack, { ...made.whole(stack) }))
}

const fits = ({ quota, size }: Measured) => size <= AWS_QUOTAS[quota].most

describe('of the stages as they are shipped', () => {
  let plain: readonly Measured[]
  let most: readonly Measured[]
  beforeAll(async () => {
    plain = measure(await assembled({ 'sluice:stage': 'productionxx' }))
    most = measure(await assembledWithAll())
  }, 240_000)

  test('everything fits, with the longest name of a stage and with everything on', () => {
    for (const found of [plain, most]) {
      expect(found.length).toBeGreaterThan(1_000)
      expect(found.filter((one) => !fits(one))).toEqual([])
    }
  })

  test('what is measured is not nothing', () => {
    const sized = new Map(most.map(({ quota, size }) => [quota, size]))
    for (const { quota, size } of most) sized.set(quota, Math.max(size, sized.get(quota) ?? 0))
    const expected: readonly Quota[] = [
      ...(['stack_resources', 'environment_bytes', 'role_policy_characters', 'function_policy_bytes'] as const),
      ...(['machine_name_characters', 'rule_pattern_characters', 'alarm_metrics', 'dashboard_metrics'] as const),
      ...(['api_resources', 'bucket_policy_bytes', 'task_definition_bytes', 'log_group_name_characters'] as const),
    ]
    for (const quota of expected)
      expect([quota, sized.get(quota)]).toEqual([quota, expect.toSatisfy(isMoreThanNothing)])
  })
})

function isMoreThanNothing(size: unknown): boolean {
  return typeof size === 'number' && size > 0
}

/** One resource that is over its quota, by what CloudFormation calls its type. */
const long = (characters: number) => 'x'.repeat(characters)
const PLANTED: readonly (readonly [Quota, string, object])[] = [
  ['function_name_characters', 'AWS::Lambda::Function', { FunctionName: long(65) }],
  ['environment_bytes', 'AWS::Lambda::Function', { Environment: { Variables: { A: long(4_090) } } }],
  ['function_timeout_sec', 'AWS::Lambda::Function', { Timeout: 901 }],
  ['function_subnets', 'AWS::Lambda::Function', { VpcConfig: { SubnetIds: Array(17).fill('subnet-1') } }],
  ['function_security_groups', 'AWS::Lambda::Function', { VpcConfig: { SecurityGroupIds: Array(6).fill('sg-1') } }],
  ['api_rate', 'AWS::ApiGateway::Stage', { MethodSettings: [{ ThrottlingRateLimit: 10_001 }] }],
  ['api_burst', 'AWS::ApiGateway::Stage', { MethodSettings: [{ ThrottlingBurstLimit: 5_001 }] }],
  ['role_name_characters', 'AWS::IAM::Role', { RoleName: { 'Fn::Join': ['', [long(51), { Ref: 'AWS::Region' }]] } }],
  ['role_trust_characters', 'AWS::IAM::Role', { AssumeRolePolicyDocument: { Statement: [long(2_048)] } }],
  ['role_policy_characters', 'AWS::IAM::Role', { Policies: [{ PolicyName: 'p', PolicyDocument: long(10_240) }] }],
  ['policy_name_characters', 'AWS::IAM::Role', { Policies: [{ PolicyName: long(129), PolicyDocument: {} }] }],
  ['machine_name_characters', 'AWS::StepFunctions::StateMachine', { StateMachineName: long(81) }],
  ['log_group_name_characters', 'AWS::Logs::LogGroup', { LogGroupName: long(513) }],
  ['log_policy_characters', 'AWS::Logs::ResourcePolicy', { PolicyDocument: long(5_121) }],
  [
    'bucket_name_characters',
    'AWS::S3::Bucket',
    { BucketName: { 'Fn::Sub': `${long(40)}-\${AWS::AccountId}-\${AWS::Region}` } },
  ],
  ['bucket_policy_bytes', 'AWS::S3::BucketPolicy', { PolicyDocument: long(20_481) }],
  ['queue_name_characters', 'AWS::SQS::Queue', { QueueName: long(81) }],
  ['table_name_characters', 'AWS::DynamoDB::Table', { TableName: long(256) }],
  ['rule_pattern_characters', 'AWS::Events::Rule', { EventPattern: { source: [long(2_048)] } }],
  ['rule_targets', 'AWS::Events::Rule', { Targets: [{}, {}, {}, {}, {}, {}] }],
  ['rule_input_characters', 'AWS::Events::Rule', { Targets: [{ Input: long(8_193) }] }],
  ['api_policy_characters', 'AWS::ApiGateway::RestApi', { Policy: { Statement: [long(8_192)] } }],
  ['alarm_name_characters', 'AWS::CloudWatch::Alarm', { AlarmName: long(256) }],
  ['alarm_description_characters', 'AWS::CloudWatch::Alarm', { AlarmDescription: long(1_025) }],
  ['alarm_metrics', 'AWS::CloudWatch::Alarm', { Metrics: Array.from({ length: 11 }, () => ({ MetricStat: {} })) }],
  ['task_definition_bytes', 'AWS::ECS::TaskDefinition', { ContainerDefinitions: [long(65_536)] }],
  ['tags', 'AWS::SQS::Queue', { Tags: Array.from({ length: 51 }, (_, i) => ({ Key: `k${i}`, Value: 'v' })) }],
  ['tag_key_characters', 'AWS::SQS::Queue', { Tags: [{ Key: long(129), Value: 'v' }] }],
  ['tag_value_characters', 'AWS::ECS::Service', { Tags: { team: long(257) } }],
]

test.each(PLANTED)('%s: one more is found, and nothing else', (quota, Type, Properties) => {
  const found = measureTemplate('SluiceX', { Resources: { Planted: { Type, Properties } } })
  expect(found.filter((one) => !fits(one)).map((one) => one.quota)).toEqual([quota])
})

test('what many resources make up together is measured together', () => {
  const many = (count: number, Type: string, Properties = {}) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`R${i}`, { Type, Properties }]))
  const over = (template: object) =>
    measureTemplate('SluiceX', { ...template })
      .filter((one) => !fits(one))
      .map(({ quota }) => quota)
  expect(over({ Resources: many(500, 'AWS::X::Y') })).toEqual([])
  expect(over({ Resources: many(501, 'AWS::X::Y') })).toEqual(['stack_resources'])
  expect(over({ Resources: many(300, 'AWS::ApiGateway::Resource') })).toEqual(['api_resources'])
  expect(over({ Resources: many(60, 'AWS::Lambda::Permission', { FunctionName: 'f', SourceArn: long(200) }) })).toEqual(
    ['function_policy_bytes'],
  )
  expect(over({ Outputs: many(201, 'o'), Description: long(1_025) })).toEqual([
    'stack_outputs',
    'stack_description_bytes',
  ])
})

test('is refused with the place, the figure, the quota, what to do, and where it stands', () => {
  const template = { Resources: { Fn: { Type: 'AWS::Lambda::Function', Properties: { FunctionName: long(70) } } } }
  const stacks = [{ id: 'SluiceX', template, templateFullPath: import.meta.filename }] as never
  expect(() => requireQuotas({ stacks })).toThrow(
    /^Cannot deploy: the name of Fn \(AWS::Lambda::Function\) of stack SluiceX would have up to 70 characters, and AWS takes 64\. Give the stage, or the document, step or container, a shorter name\. \(https:\/\/docs\.aws\.amazon\.com\/.*, as of 2026-11-27\)$/,
  )
})

test('an environment is measured as its JSON text, and a region is as long as the longest one may be', () => {
  const of = (A: object | string) => {
    const Properties = { Environment: { Variables: { A } } }
    const found = measureTemplate('SluiceX', { Resources: { Fn: { Type: 'AWS::Lambda::Function', Properties } } })
    return found.find(({ quota }) => quota === 'environment_bytes')?.size
  }
  expect(of(long(4_000))).toBe(4_000 + '{"A":""}'.length)
  const joined = { 'Fn::Join': ['', [long(4_000), { Ref: 'AWS::Region' }]] }
  expect(of(joined)).toBe(4_000 + '{"A":"ap-southeast-1"}'.length)
})

test('an app of somebody else’s is refused by the CDK itself, in the same words', () => {
  const templatePath = join(mkdtempSync(join(tmpdir(), 'sluice-quotas-')), 'Own.template.json')
  const template = { Resources: { Fn: { Type: 'AWS::Lambda::Function', Properties: { FunctionName: long(70) } } } }
  writeFileSync(templatePath, JSON.stringify(template))
  const stackTemplates = [
    { ...{ stackConstructPath: 'Prod/SluiceApi', templatePath }, accountId: undefined, region: undefined },
  ]
  const report = new QuotaChecks().validate({ stackTemplates, templatePaths: [templatePath], appConstruct: new App() })
  expect(report).toMatchObject({
    success: false,
    violations: [
      {
        ruleName: 'function_name_characters',
        description: expect.stringMatching(
          /^the name of Fn .* would have up to 70 characters, and AWS takes 64\. Give/,
        ),
        violatingResources: [{ constructPath: 'Prod/SluiceApi' }],
      },
    ],
  })
})

test('a machine is measured with every ARN in it at its longest', () => {
  const dag = { slug: 'large', dag_hash: 'h', parts: [] }
  const state = (text: string) =>
    JSON.stringify({ States: { a: { FunctionName: ['$', '{RunBlock}'].join(''), text } } })
  expect(() => requireMachineRoom([{ ...dag, definition: state(long(1_048_000)) }])).not.toThrow()
  expect(() => requireMachineRoom([{ ...dag, definition: state(long(1_048_500)) }])).toThrow(
    /^Cannot deploy: the machine of "large" would have up to 10487\d\d bytes, and AWS takes 1048576\. Split the document/,
  )
  const part = { key: 'Part1', text: JSON.stringify({ States: { [long(81)]: {} } }) }
  expect(() => requireMachineRoom([{ ...dag, definition: '{}', parts: [part] }])).toThrow(
    /state "x+" of part 1 of the machine of "large" would have up to 81 characters/,
  )
})

test('a request has no more room than Lambda gives it: larger bodies are no setting of a stage', () => {
  const settings = SettingsSchema.parse({})
  expect(() => withCdkContextSafety(settings, { max_body_bytes: 4_694_016 })).not.toThrow()
  expect(() => withCdkContextSafety(settings, { max_body_bytes: 4_694_017 })).toThrow(
    /"sluice:safety" max_body_bytes: is 4694017, and a request on AWS has room for 4694016/,
  )
})

describe('of the table', () => {
  let emulator: DynamodbEmulator
  let client: DynamoDBClient
  beforeAll(async () => {
    emulator = await startDynamodb()
    client = new DynamoDBClient(emulator.aws)
  })
  afterAll(async () => {
    client.destroy()
    await emulator.close()
  })

  test('items and expressions are measured by what every test of the store asks', async () => {
    const TableName = await emulator.createTable()
    const Key = { pk: { S: 'a' }, sk: { S: 'a' } }
    const put = (bytes: number) =>
      client.send(new PutItemCommand({ TableName, Item: { ...Key, t: { S: long(bytes) } } }))
    await put(AWS_QUOTAS.item_bytes.most - 100)
    await expect(put(AWS_QUOTAS.item_bytes.most)).rejects.toThrow(/item/i)
    const set = (names: number) => {
      const parts = Array.from({ length: names }, (_, i) => `attribute_number_${String(i).padStart(4, '0')} = :v`)
      const UpdateExpression = `SET ${parts.join(', ')}`
      const ExpressionAttributeValues = { ':v': { N: '1' } }
      return client.send(
        new UpdateItemCommand({
          TableName,
          Key: { ...Key, sk: { S: 'b' } },
          UpdateExpression,
          ExpressionAttributeValues,
        }),
      )
    }
    await set(146)
    await expect(set(147)).rejects.toThrow(/expression/i)
  })
})
