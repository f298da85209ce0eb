import { describe, expect, test } from 'vitest'
import { approvalRisk } from '../../../shared/approvals/risk.ts'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import { parseDag, stepsNamed } from '../../../shared/document/parse.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { parametersOfCall, takenParameter } from '../../../shared/steps/integrations.ts'
import { describeNativeCalls, rightsOfCalls } from '../../../shared/steps/native-calls.ts'

const block = (handler: string, config: object, more: object = {}) => ({
  name: 'calls',
  blocks: [
    { id: 'a', mode: 'deterministic', outputs: { answer: 'json' }, deterministic: { handler, config }, ...more },
  ],
})

function errorsOf(dag: object): readonly string[] {
  const parsed = parseDag(dag)
  return parsed.ok ? [] : parsed.errors.map(({ code, message }) => `${code}: ${message}`)
}

describe('parseDag() takes calls of AWS', () => {
  test.each([
    ['lambda', { function: 'resize' }],
    ['lambda', { function: 'resize', payload: { text: 'a' } }],
    ['lambda', { function: 'resize', payload_expression: '{"a": 1}' }],
    ['aws', { call: 'ecs:runTask.sync', resource: 'nightly' }],
    ['aws', { call: 'states:startExecution.sync:2', resource: 'other', parameters: { Input: { a: 1 } } }],
    ['aws', { call: 'aws-sdk:s3:getObject', resource: 'files', parameters: { Key: 'a' }, local: './steps/s3.ts' }],
    ['container', { container: 'parser', command_args: ['--fast'] }],
  ])('%s %j', (handler, config) => {
    expect(errorsOf(block(handler, config))).toEqual([])
  })

  test('of as many days as they may take, where others have fourteen minutes', () => {
    expect(errorsOf(block('lambda', { function: 'resize' }, { timeout_ms: 86_400_000 }))).toEqual([])
    expect(errorsOf(block('pass', {}, { timeout_ms: 86_400_000 }))).toEqual([
      'limit_exceeded: Cannot compile DAG "calls": timeout_ms of block "a" is 86400000; the limit is 840000.',
    ])
    expect(errorsOf(block('lambda', { function: 'resize' }, { timeout_ms: 2_592_000_001 }))).toMatchObject([
      expect.stringContaining('the limit is 2592000000'),
    ])
  })
})

describe('parseDag() refuses', () => {
  test.each<[string, string, object, RegExp]>([
    ['an ARN for a name', 'lambda', { function: 'arn:aws:lambda:eu-central-1:1:function:x' }, /is not allowed/],
    ['a call that waits for a token', 'aws', { call: 'sqs:sendMessage.waitForTaskToken' }, /SERVICE:ACTION/],
    ['a call that is no call', 'aws', { call: 'arn:aws:states:::sqs:sendMessage' }, /SERVICE:ACTION/],
    [
      'both payload and expression',
      'lambda',
      { function: 'a', payload: 1, payload_expression: '1' },
      /"payload_expression" does not go with "payload"/,
    ],
    [
      "what is the operator's to give",
      'aws',
      { call: 'sqs:sendMessage', resource: 't', parameters: { QueueUrl: 'https://x.test' } },
      /"QueueUrl" is the operator's to give/,
    ],
    [
      'a role for a task',
      'aws',
      { call: 'ecs:runTask.sync', resource: 't', parameters: { Overrides: { TaskRoleArn: 'arn' } } },
      /"Overrides.TaskRoleArn" is the operator's to give/,
    ],
    [
      'another bus in an entry',
      'aws',
      { call: 'events:putEvents', resource: 't', parameters: { Entries: [{ EventBusName: 'x' }] } },
      /"Entries.EventBusName" is the operator's/,
    ],
    [
      'a secret',
      'lambda',
      { function: 'a', payload: { key: 'sk-0123456789abcdefghij' } },
      /secret_in_document.*looks like a secret/,
    ],
    [
      'an expression that is none',
      'aws',
      { call: 'sqs:sendMessage', parameters_expression: '{' },
      /malformed_expression/,
    ],
    ['an unknown key', 'container', { container: 'a', image: 'x' }, /unknown_key/],
    ['a template that reads nothing', 'lambda', { function: 'a', payload: '{{goal}}' }, /malformed_template/],
  ])('%s', (_, handler, config, message) => {
    expect(errorsOf(block(handler, config)).join('\n')).toMatch(message)
  })

  test('a kept result of a call that changes something', () => {
    expect(errorsOf(block('aws', { call: 'sqs:sendMessage' }, { cache: { max_age_sec: 60 } }))).toMatchObject([
      expect.stringContaining('mode_mismatch'),
    ])
  })
})

test('stepsNamed() answers what a document calls, each once', () => {
  const blocks = [
    ['lambda', { function: 'resize' }],
    ['lambda', { function: 'resize', payload: 1 }],
    ['aws', { call: 'sqs:sendMessage', resource: 'tickets', local: './steps/q.ts' }],
    ['container', { container: 'parser' }],
    ['./steps/a.ts', {}],
    ['pass', {}],
  ].map(([handler, config], i) => ({ id: `b${i}`, mode: 'deterministic', deterministic: { handler, config } }))
  expect(stepsNamed({ blocks })).toEqual([
    'lambda|resize',
    'aws|sqs:sendMessage|tickets|./steps/q.ts',
    'container|parser',
    './steps/a.ts',
  ])
  expect(stepsNamed(JSON.stringify({ blocks }))).toHaveLength(4)
})

const settings = SettingsSchema.parse({
  functions: { resize: { arn: 'arn:aws:lambda:eu-central-1:123456789012:function:resize' }, other: {} },
  containers: {
    parser: { image: 'acme/parser:1' },
  },
  integrations: {
    'sqs:sendMessage': {
      resources: {
        tickets: { parameters: { QueueUrl: 'https://sqs.eu-central-1.amazonaws.com/123456789012/tickets' } },
      },
    },
    'ecs:runTask.sync': {
      resources: {
        nightly: {
          parameters: { Cluster: 'arn:aws:ecs:eu-central-1:123456789012:cluster/main', TaskDefinition: 'nightly' },
          pass_roles: ['arn:aws:iam::123456789012:role/nightly-task'],
        },
      },
    },
    'aws-sdk:textract:detectDocumentText': {
      grants: [{ actions: ['textract:DetectDocumentText'], resources: ['*'], reason: 'Textract has no resources' }],
    },
  },
})

describe('describeNativeCalls()', () => {
  const problemOf = (name: string) => {
    const known = describeNativeCalls(settings, [name])[name]
    return known !== undefined && 'problem' in known ? known.problem : undefined
  }

  test('knows what the settings name', () => {
    expect(describeNativeCalls(settings, ['lambda|resize', './steps/a.ts'])).toEqual({
      'lambda|resize': { kind: 'native', hash: expect.stringMatching(/^[0-9a-f]{64}$/), effect: 'again' },
    })
    expect(problemOf('aws|sqs:sendMessage|tickets|')).toBe(undefined)
    expect(problemOf('aws|aws-sdk:textract:detectDocumentText||')).toBe(undefined)
  })

  test.each([
    ['lambda|resise', /there is no function "resise"/],
    ['lambda|other', /function "other" has no ARN/],
    ['container|parser', /has no cluster to run in/],
    ['aws|sqs:sendMessage||', /works on a resource that the operator names; there are "tickets"/],
    ['aws|sqs:sendMessage|orders|', /no resource of sqs:sendMessage "orders"/],
    ['aws|aws-sdk:rekognition:detectText||', /have to state it/],
  ])('refuses %s', (name, message) => {
    expect(problemOf(name)).toMatch(message)
  })
})

describe('rightsOfCalls()', () => {
  const at = { partition: 'aws', region: 'eu-central-1', account: '123456789012', taskOf: () => [] }

  test('are exactly what the calls of the documents need', () => {
    expect(rightsOfCalls(settings, ['lambda|resize', 'aws|sqs:sendMessage|tickets|', 'lambda|nobody'], at)).toEqual([
      { actions: ['lambda:InvokeFunction'], resources: ['arn:aws:lambda:eu-central-1:123456789012:function:resize'] },
      { actions: ['sqs:SendMessage'], resources: ['arn:aws:sqs:eu-central-1:123456789012:tickets'] },
    ])
  })

  test('hand over the named roles alone, and watch tasks of the named cluster alone', () => {
    expect(rightsOfCalls(settings, ['aws|ecs:runTask.sync|nightly|'], at)).toEqual([
      { actions: ['ecs:RunTask'], resources: ['arn:aws:ecs:eu-central-1:123456789012:task-definition/nightly:*'] },
      {
        actions: ['ecs:StopTask', 'ecs:DescribeTasks'],
        resources: ['arn:aws:ecs:eu-central-1:123456789012:task/main/*'],
        conditions: { ArnEquals: { 'ecs:cluster': 'arn:aws:ecs:eu-central-1:123456789012:cluster/main' } },
      },
      {
        actions: ['events:PutTargets', 'events:PutRule', 'events:DescribeRule'],
        resources: ['arn:aws:events:eu-central-1:123456789012:rule/StepFunctionsGetEventsForECSTaskRule'],
      },
      { actions: ['iam:PassRole'], resources: ['arn:aws:iam::123456789012:role/nightly-task'] },
    ])
  })
})

describe('parametersOfCall()', () => {
  test("puts the operator's over the document's, and the key where the service takes one", () => {
    const queue = 'https://sqs.eu-central-1.amazonaws.com/123456789012/t.fifo'
    expect(parametersOfCall('sqs:sendMessage', { MessageBody: 'a' }, { QueueUrl: queue }, 'run_1/0/0/1/0')).toEqual({
      MessageBody: 'a',
      QueueUrl: queue,
      MessageDeduplicationId: 'run-1-0-0-1-0',
    })
    expect(parametersOfCall('states:startExecution', {}, { StateMachineArn: 'arn' }, 'run_1/0')).toEqual({
      StateMachineArn: 'arn',
      Name: 'run-1-0',
    })
  })

  test('puts the bus of the settings into every entry', () => {
    expect(
      parametersOfCall('events:putEvents', { Entries: [{ Detail: {} }] }, { EventBusName: 'orders' }, 'k'),
    ).toEqual({
      Entries: [{ Detail: {}, EventBusName: 'orders' }],
    })
  })

  test('what the settings fix is theirs in every call', () => {
    expect(takenParameter('aws-sdk:textract:detectDocumentText', { Bucket: 'a' }, { Bucket: 'b' })).toBe('Bucket')
    expect(takenParameter('aws-sdk:textract:detectDocumentText', { Key: 'a' }, { Bucket: 'b' })).toBe(undefined)
  })
})

test('settings of a resource say which one it is', () => {
  const read = SettingsSchema.safeParse({ integrations: { 'sqs:sendMessage': { resources: { tickets: {} } } } })
  expect(read.success ? [] : read.error.issues.map(({ message }) => message)).toEqual([
    'it says not which one it is: add parameters: { QueueUrl: .. }',
  ])
})

test('compileDag() writes a state for the call itself, whose text holds nothing of the document but its id', () => {
  const parsed = parseDag(
    block(
      'aws',
      { call: 'ecs:runTask.sync', resource: 'nightly', parameters: { Secret_text: 'x' } },
      { timeout_ms: 7_200_500 },
    ),
  )
  if (!parsed.ok) throw new Error(parsed.errors[0]?.message)
  const { definition, text } = compileDag(parsed.dag)
  expect(Object.keys(definition.States)).toEqual([
    'a',
    '_go_a',
    '_call_a',
    '_close_a',
    '_retry_a',
    '_settle',
    '_end',
    '_decide_completion',
    '_done',
    '_failed',
  ])
  expect(definition.States._call_a).toMatchSnapshot()
  expect(text).not.toContain('Secret_text')
})

test('who approves is told what AWS is to do', () => {
  const wordsOf = (handler: string, config: object) => {
    const parsed = parseDag(block(handler, config))
    if (!parsed.ok) throw new Error(parsed.errors[0]?.message)
    const cost = { spent: { tokens: 0, usd: 0, unpriced: [] }, to_come: { unpriced: [] } } as never
    return approvalRisk({ question: { block_id: 'a', about: 'dispatch' } as never, coming: parsed.dag.blocks, cost })
  }
  expect(wordsOf('lambda', { function: 'resize' })).toMatchObject({ level: 'medium' })
  expect(wordsOf('container', { container: 'parser' }).because[0]).toBe('block a runs container parser')
  expect(wordsOf('aws', { call: 'sqs:sendMessage', resource: 'tickets' }).because[0]).toBe(
    'block a has AWS make the call sqs:sendMessage of tickets',
  )
})
