import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { type DynamodbEmulator, startDynamodb } from '../../emulators/dynamodb.ts'
import { type LambdaEmulator, startLambda } from '../../emulators/lambda.ts'
import { startSecrets } from '../../emulators/secrets.ts'
import { formOf } from '../../emulators/slack-server.ts'
import { signedHeaders } from '../../emulators/slack-signature.ts'
import { ROOT } from './assembly.ts'
import { lambdaArn } from './aws-settings.ts'
import { bundled } from './bundled.ts'
import { SLACK_FUNCTIONS, SLACK_SECRETS, slackSettings } from './slack-settings.ts'

/** What somebody who clicks waits for: a fresh process that loads the bundle, reads secrets, notes the click, hands it on. */
let dir: string
const work: unknown[] = []
let dynamodb: DynamodbEmulator
let lambda: LambdaEmulator
let secrets: Awaited<ReturnType<typeof startSecrets>>
let env: Readonly<Record<string, string>>

beforeAll(async () => {
  const settings = slackSettings()
  const dags = readDeployedDags(join(ROOT, 'dags'), ROOT, settings)
  dir = (await bundled({ settings, dags, names: stageNames('dev') }, SLACK_FUNCTIONS)).built
  dynamodb = await startDynamodb()
  lambda = await startLambda({ functions: { 'sluice-test-slack-work': (event) => void work.push(event) } })
  secrets = await startSecrets(Object.fromEntries(SLACK_SECRETS.signing.map((arn) => [arn, 'the secret'])))
  env = {
    STAGE: 'test',
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    TABLE: await dynamodb.createTable(),
    SLACK_WORK_ARN: lambdaArn('slack-work'),
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.aws.endpoint,
    AWS_ENDPOINT_URL_LAMBDA: lambda.aws.endpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.aws.endpoint,
  }
})
afterAll(async () => {
  await lambda.close()
  await secrets.close()
  await dynamodb.close()
})

function event(action_ts: string) {
  const value = `v1|apr_00000000000000000000000000_1_0|approve|${'a'.repeat(32)}`
  const body = formOf({
    type: 'block_actions',
    team: { id: 'T0TEAM' },
    api_app_id: 'A0APP',
    user: { id: 'U0ANA' },
    container: { channel_id: 'C0CHAN', message_ts: '1.1' },
    actions: [{ action_id: 'sluice_approve', value, action_ts }],
  })
  const headers = signedHeaders('the secret', body)
  return {
    httpMethod: 'POST',
    path: '/api/slack/interactions',
    pathParameters: null,
    queryStringParameters: null,
    headers,
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
  }
}

/** How much more than an idle process it computes at the most. */
const BOUND = 12

/** Milliseconds a process has computed until its answer; those of one that does nothing at all. */
const OWN_MS = '(({ user, system }) => (user + system) / 1_000)(process.cpuUsage())'
const IDLE = `process.stdout.write(JSON.stringify({ ms: ${OWN_MS} }) + '\\n')`
const CHILD = `
const [, file, event] = process.argv
const { handler } = await import(file)
const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 10_000 }
const answer = await handler(JSON.parse(event), context)
process.stdout.write(JSON.stringify({ ms: ${OWN_MS}, statusCode: answer.statusCode, body: answer.body }) + '\\n', () => process.exit())
`

async function answer(action_ts: string) {
  const file = join(dir, 'slack-interactions', 'index.mjs')
  return processOf(CHILD, file, JSON.stringify(event(action_ts)))
}

async function processOf(program: string, ...given: readonly string[]) {
  const args = ['--input-type=module', '-e', program, ...given]
  const child = spawn(process.execPath, args, { env: { ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  await once(child, 'close')
  const line = out.split('\n').find((text) => text.startsWith('{"ms"')) ?? '{}'
  return JSON.parse(line) as { readonly ms: number; readonly statusCode: number; readonly body: string }
}

test('is answered by a fresh process that computes no more than some ten times what an idle one does', {
  tags: ['thorough'],
}, async () => {
  const times: number[] = []
  const idle: number[] = []
  for (const n of [1, 2, 3]) {
    idle.push((await processOf(IDLE)).ms)
    const { ms, statusCode, body } = await answer(`170000000${n}.000100`)
    expect([statusCode, body]).toEqual([200, ''])
    times.push(Math.round(ms))
  }
  process.stdout.write(`answer to Slack of a fresh process: ${times.join(', ')} ms; idle: ${idle.join(', ')} ms\n`)
  await lambda.settled()
  expect(work).toHaveLength(3)
  // The quickest says what it takes, however busy the machine is.
  expect(Math.min(...times)).toBeLessThan(BOUND * Math.min(...idle))
})

test('the same click in another process is handed on again until it is done, and answered the same', async () => {
  const before = work.length
  const first = await answer('1700000009.000100')
  const second = await answer('1700000009.000100')
  expect([second.statusCode, second.body]).toEqual([first.statusCode, first.body])
  await lambda.settled()
  expect(work.slice(before)).toEqual([work.at(-1), work.at(-1)])
})
