import { beforeAll, describe, expect, test } from 'vitest'
import { readDeploySettings } from '../../../infra/aws/deploy-settings.ts'
import { assembled } from './assembled.ts'
import { type Assembly, type Resource, textOf } from './assembly.ts'
import { cdkContext } from './synthesized.ts'

const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/11111111-2222-3333-4444-555555555555'
const TAGS = { team: 'research', 'cost-center': '4711' }
let made: Assembly
let plain: Assembly

beforeAll(async () => {
  made = await assembled({ 'sluice:tags': JSON.stringify(TAGS), 'sluice:log_retention_days': '90', 'sluice:key': KEY })
  plain = await assembled()
}, 240_000)

function tagsOf({ Properties: { Tags } }: Resource): Readonly<Record<string, unknown>> {
  if (!Array.isArray(Tags)) return {}
  return Object.fromEntries(
    Tags.map(({ Key, Value }: { readonly Key: string; readonly Value: unknown }) => [Key, Value]),
  )
}

/** Of the types that a stage has and that take tags (each has a property for them in its CloudFormation reference). */
const TAGGED = [
  ...['AWS::Lambda::Function', 'AWS::IAM::Role', 'AWS::DynamoDB::Table', 'AWS::S3::Bucket', 'AWS::SQS::Queue'],
  ...['AWS::StepFunctions::StateMachine', 'AWS::Logs::LogGroup', 'AWS::ApiGateway::RestApi', 'AWS::ApiGateway::Stage'],
  ...['AWS::CloudWatch::Alarm', 'AWS::Events::Rule'],
]

test.each(TAGGED)('each %s has the tags of the stage, and without any none', (type) => {
  const all = made.all(type)
  expect(all.length).toBeGreaterThan(0)
  for (const resource of all)
    expect([resource.id, tagsOf(resource)]).toEqual([resource.id, expect.objectContaining(TAGS)])
  for (const resource of plain.all(type)) expect(Object.keys(tagsOf(resource))).not.toContain('team')
})

test('every log group is kept as long and under the same key, both of the API among them', () => {
  const groups = made.all('AWS::Logs::LogGroup')
  expect(groups.length).toBe(plain.all('AWS::Logs::LogGroup').length)
  for (const { id, Properties } of groups) {
    expect([id, Properties.RetentionInDays, Properties.KmsKeyId]).toEqual([id, 90, KEY])
  }
  for (const { id, Properties } of plain.all('AWS::Logs::LogGroup')) {
    expect([id, Properties.RetentionInDays, Properties.KmsKeyId]).toEqual([id, 30, undefined])
  }
  expect(groups.map(({ Properties }) => textOf(Properties.LogGroupName))).toEqual(
    expect.arrayContaining([
      '/aws/apigateway/sluice-dev-access',
      expect.stringMatching(/^API-Gateway-Execution-Logs_<.+>\/dev$/),
    ]),
  )
})

test('the group of the API’s execution log is there before the stage that writes it', () => {
  const stack = made.whole('SluiceApi').Resources
  const [group] = Object.entries(stack).filter(
    ([, { Type, Properties }]) =>
      Type === 'AWS::Logs::LogGroup' && textOf(Properties.LogGroupName).startsWith('API-Gateway-Execution-Logs_'),
  )
  const [stage] = made.all('AWS::ApiGateway::Stage')
  expect(JSON.stringify(stage)).toContain(`"${group?.[0]}"`)
})

describe('settings', () => {
  const read = (given: Readonly<Record<string, unknown>>) => () =>
    readDeploySettings((key) => ({ ...cdkContext(), ...given })[key])

  test('tags are an object, or its JSON; a retention is one of those CloudWatch has', () => {
    expect(read({ 'sluice:tags': TAGS })().tags).toEqual(TAGS)
    expect(read({ 'sluice:tags': JSON.stringify(TAGS) })().tags).toEqual(TAGS)
    expect(read({ 'sluice:log_retention_days': '365' })().log_retention_days).toBe(365)
  })

  test.each<[string, unknown]>([
    ['a key of AWS’s own', { 'aws:x': 'y' }],
    ['a key in capitals of AWS’s own', { 'AWS:x': 'y' }],
    ['an empty key', { '': 'y' }],
    ['a value that is too long', { a: 'y'.repeat(257) }],
    ['a value that is no text', { a: 1 }],
    ['a sign that AWS does not take', { 'a*': 'b' }],
    ['too many', Object.fromEntries(Array.from({ length: 41 }, (_, i) => [`k${i}`, 'v']))],
    ['a word', 'team'],
  ])('%s is refused', (_, tags) => {
    expect(read({ 'sluice:tags': tags })).toThrow(/"sluice:tags" is .*; allowed: an object of at most 40 tags/)
  })

  test('31 days are refused: CloudWatch has no such retention', () => {
    expect(read({ 'sluice:log_retention_days': 31 })).toThrow(
      '"sluice:log_retention_days" is 31; allowed: one of 1, 3, 5',
    )
  })
})
