import { beforeAll, describe, expect, test } from 'vitest'
import { projectLines } from '../../../clients/cli/aws/deploy-summary.ts'
import { readTemplates } from '../../../clients/cli/aws/synthesis.ts'
import {
  ContainersSettingsSchema,
  FunctionsSettingsSchema,
  IntegrationsSettingsSchema,
} from '../../../shared/steps/native-settings.ts'
import { StepsSettingsSchema } from '../../../shared/steps/settings.ts'
import { assembled } from '../aws/assembled.ts'
import { slackSettings } from '../aws/slack-settings.ts'

/** What `sluice deploy` says before it asks of steps, containers and calls of AWS, as a synthesis wrote it. */
const ARN = 'arn:aws:lambda:eu-central-1:111122223333:function:resize'
const CLUSTER = 'arn:aws:ecs:eu-central-1:111122223333:cluster/main'
const QUEUE = 'https://sqs.eu-central-1.amazonaws.com/111122223333/tickets'
const detect = 'aws-sdk:textract:detectDocumentText'
const reason = 'Textract has no resource level for this action.'
const settings = {
  steps: StepsSettingsSchema.parse({
    './steps/notify.js': {
      grants: [{ actions: ['sns:Publish'], resources: ['arn:aws:sns:eu-central-1:111122223333:notices'] }],
    },
  }),
  functions: FunctionsSettingsSchema.parse({ resize: { arn: ARN } }),
  integrations: IntegrationsSettingsSchema.parse({
    'sqs:sendMessage': { resources: { tickets: { parameters: { QueueUrl: QUEUE } } } },
    [detect]: { grants: [{ actions: ['textract:DetectDocumentText'], resources: ['*'], reason }] },
  }),
  containers: ContainersSettingsSchema.parse({
    indexer: {
      image: 'acme/indexer:1',
      grants: [{ actions: ['s3:GetObject'], resources: ['arn:aws:s3:::corpus/all.txt'] }],
      aws: { cluster: CLUSTER, subnets: ['subnet-0123456789abcdef0'], public_ip: true },
    },
    unused: { image: 'acme/unused:1', aws: { cluster: CLUSTER, subnets: ['subnet-0123456789abcdef0'] } },
  }),
}
const step = (handler: string, config: object = {}) =>
  `{ id: ${handler.replaceAll(/\W+/g, '_').replace(/^_/, '')}, mode: deterministic, deterministic: ${JSON.stringify({ handler, config })}, outputs: { answer: json } }`
const FILES = {
  'steps/notify.js': `import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({ inputs: z.object({}), outputs: z.object({ answer: z.any() }), run: () => ({ answer: 1 }) })
`,
  'dags/steps.yaml': `name: steps\nblocks: [${step('./steps/notify.js')}]\n`,
  'dags/calls.yaml': `name: calls\nblocks: [${step('lambda', { function: 'resize' })}]\n`,
  'dags/sends.yaml': `name: sends\nblocks: [${step('aws', { call: 'sqs:sendMessage', resource: 'tickets', parameters: { MessageBody: 'x' } })}]\n`,
  'dags/reads.yaml': `name: reads\nblocks: [${step('aws', { call: detect, parameters: {} })}]\n`,
  'dags/packs.yaml': `name: packs\nblocks: [${step('container', { container: 'indexer' })}]\n`,
}

let lines: readonly string[]
beforeAll(async () => {
  const { slack: _, ...rest } = slackSettings()
  const { out } = await assembled({}, { ...rest, ...settings }, FILES)
  lines = projectLines(readTemplates(out))
}, 240_000)

describe('sluice deploy says before it asks', () => {
  test('which steps there are, and what each is granted', () => {
    expect(lines).toEqual(
      expect.arrayContaining([
        'Steps: 1 function of the project, and what the settings grant each',
        '  ./steps/notify.js: sns:Publish on arn:aws:sns:eu-central-1:111122223333:notices',
      ]),
    )
  })

  test('which containers documents run, with image and address, and what each is granted: none that nobody runs', () => {
    const at = lines.indexOf('Containers: 1 task of Fargate, and what the settings grant each besides its own files')
    expect(lines.slice(at + 1, at + 3)).toEqual([
      '  indexer: acme/indexer:1, 1 role, with a public address',
      '  indexer: s3:GetObject on arn:aws:s3:::corpus/all.txt',
    ])
    expect(lines.join('\n')).not.toContain('unused')
  })

  test('what machines call, and each right of their role for it, with its condition and the reason why it is wide', () => {
    const at = lines.findIndex((line) => line.startsWith('Calls that machines make themselves: '))
    expect(lines[at]).toBe(
      `Calls that machines make themselves: aws ${detect}; aws sqs:sendMessage tickets; container indexer; lambda resize. For them their role may`,
    )
    expect(lines.slice(at + 1)).toEqual([
      `  textract:DetectDocumentText on * (${reason})`,
      '  sqs:SendMessage on arn:aws:sqs:eu-central-1:111122223333:tickets',
      '  ecs:RunTask on arn:aws:ecs:REGION:ACCOUNT:task-definition/sluice-dev-container-indexer:*',
      `  ecs:StopTask, ecs:DescribeTasks on ${CLUSTER.replace('cluster/', 'task/')}/* where ecs:cluster is ${CLUSTER}`,
      expect.stringMatching(
        /^ {2}iam:PassRole on arn:aws:iam::ACCOUNT:role\/sluice-dev-task-\w{8}-REGION, arn:aws:iam::ACCOUNT:role\/sluice-dev-begin-\w{8}-REGION where iam:PassedToService is ecs-tasks.amazonaws.com$/,
      ),
      '  events:PutTargets, events:PutRule, events:DescribeRule on arn:aws:events:REGION:ACCOUNT:rule/StepFunctionsGetEventsForECSTaskRule',
      `  lambda:InvokeFunction on ${ARN}`,
    ])
  })

  test('nothing of a project without any', () => {
    expect(projectLines({})).toEqual([])
  })
})
