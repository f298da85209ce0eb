// @module-tag thorough
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { beforeAll, expect, test } from 'vitest'
import { readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { ROOT } from './assembly.ts'
import { bundled } from './bundled.ts'
import { importBundle } from './function-process.ts'
import { SLACK_FUNCTIONS, slackSettings } from './slack-settings.ts'

let dir: string
let made: Metafile
beforeAll(async () => {
  const settings = slackSettings()
  const dags = readDeployedDags(join(ROOT, 'dags'), ROOT, settings)
  const { built, metafile } = await bundled({ settings, dags, names: stageNames('dev') }, SLACK_FUNCTIONS)
  dir = built
  made = metafile()
}, 120_000)

/** The AWS SDK, and what only it brings along. */
const OF_SDK = /node_modules\/(@aws-sdk|@smithy|@aws|@aws-crypto|mnemonist|obliterator|tslib)\//

function partsOf(name: string) {
  const output = Object.entries(made.outputs).find(([file]) => file.endsWith(`/${name}/index.mjs`))?.[1]
  return { bytes: output?.bytes ?? 0, inputs: Object.entries(output?.inputs ?? {}) }
}

test('who answers Slack is small: at most 500 KB, of which 120 KB are not the AWS SDK', () => {
  const { bytes, inputs } = partsOf('slack-interactions')
  const own = inputs
    .filter(([file]) => !OF_SDK.test(file))
    .reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0)
  process.stdout.write(
    `slack-interactions: ${Math.round(bytes / 1_000)} KB, ${Math.round(own / 1_000)} KB without the SDK\n`,
  )
  expect(bytes).toBeGreaterThan(100_000)
  expect(bytes).toBeLessThanOrEqual(500_000)
  expect(own).toBeLessThanOrEqual(120_000)
  expect(inputs.filter(([file]) => /node_modules\/(zod|@slack)\//.test(file))).toEqual([])
})

test('Slack’s own client is in slack-work, and nowhere else', () => {
  const holders = Object.keys(made.outputs).filter((file) =>
    Object.keys(made.outputs[file]?.inputs ?? {}).some((input) => input.includes('node_modules/@slack/')),
  )
  expect(holders.map((file) => file.split('/').at(-2))).toEqual(['slack-work'])
  expect(partsOf('slack-work').bytes).toBeLessThanOrEqual(900_000)
})

test('slack-work starts from its bundle alone', () => {
  expect(importBundle(dir, 'slack-work')).toMatchObject({ answer: 'function', stderr: '' })
})

const ENV = { STAGE: 'dev', AWS_REGION: 'eu-central-1', TABLE: 't', AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' }

test('as Lambda runs it, a request that nobody signed is 401 before anything is read', () => {
  const request = {
    httpMethod: 'POST',
    resource: '/api/slack/interactions',
    path: '/api/slack/interactions',
    headers: null,
    pathParameters: null,
    queryStringParameters: null,
    body: 'AAAA',
    isBase64Encoded: true,
    requestContext: {},
  }
  const { answer } = importBundle(dir, 'slack-interactions', request, ENV)
  expect(answer).toMatchObject({ statusCode: 401, body: expect.stringContaining('not_from_slack') })
})
