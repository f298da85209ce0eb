import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import { startBedrock } from '../emulators/bedrock-server.ts'
import { startOllama } from '../emulators/ollama-server.ts'
import { completes, startOpenai } from '../emulators/openai-server.ts'
import { json, type ProviderServer, serveProvider } from '../emulators/provider-server.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Providers of a stage: settings from its file, a key from Secrets Manager, servers of this test. */
const SECRET = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:sluice/big-AbCdEf'
const KEY = 'sk-canary-77b1f0c2'
const SHIPPED = readFileSync(join(import.meta.dirname, '../../sluice.yaml'), 'utf8')
const dir = mkdtempSync(join(tmpdir(), 'sluice-stage-'))
let big: ProviderServer
let own: ProviderServer
let few: ProviderServer
let models: ProviderServer
/** Calls under way at `few`. */
const busy = { now: 0, most: 0 }
const NOVA = 'amazon.nova-lite-v1:0'
let made: Synthesized
let place: Deployment
let caller: Caller

beforeAll(async () => {
  big = await startOpenai(() => 'Reviewed.', KEY)
  own = await startOllama(({ body }) => `Draft by ${body.model}`)
  models = await startBedrock(() => 'Said by Nova.')
  few = await serveProvider(async (response) => {
    busy.now += 1
    busy.most = Math.max(busy.most, busy.now)
    await pause(100)
    busy.now -= 1
    const line = { model: 'm', message: { content: 'done' }, done: true, prompt_eval_count: 1, eval_count: 1 }
    response.end(`${JSON.stringify(line)}\n`)
  })
  const lines = [
    'providers:',
    `  own: { type: ollama, url: "${own.url}" }`,
    `  few: { type: ollama, url: "${few.url}", max_concurrency: 2 }`,
    `  aws: { type: bedrock, region: us-east-1, endpoint: "${models.url}", models: ["${NOVA}"] }`,
    `  big: { type: openai-compatible, url: "${big.url}/v1", key: { secret: "${SECRET}" } }`,
    'agents:',
    '  writer: { role: worker, provider: own, model: "llama3:8b" }',
    '  editor: { role: reviewer, provider: big, model: g-1 }',
    // The shipped coding-gates moves a task: its gates and its pipeline are those of the shipped settings.
    SHIPPED.slice(SHIPPED.indexOf('\ngates:')),
  ]
  writeFileSync(join(dir, 'sluice.dev.yaml'), lines.join('\n'))
  made = await synthesize({}, readStageSettings(dir, { stage: 'dev' }))
  place = await deploy(made.out, { [SECRET]: KEY })
  caller = callerOf(place.api.url)
})
afterAll(async () => {
  await place.close()
  await big.close()
  await own.close()
  await few.close()
  await models.close()
  made.remove()
  rmSync(dir, { recursive: true, force: true })
})

const outputs = { text: { type: 'string' } }
const routed = {
  name: 'routed',
  blocks: [
    { id: 'write', outputs, agent: { role: 'worker', prompt: 'Write about {{inputs.topic}}' } },
    {
      id: 'review',
      inputs: { text: { from: 'write.text' } },
      outputs,
      agent: { role: 'reviewer', prompt: 'Judge: {{inputs.text}}' },
      retry: { max_attempts: 2, backoff: 'none', delay_ms: 1 },
    },
  ],
}

test('a DAG routed by role asks both, waits as long as it is told, and completes', async () => {
  big.next(json(429, {}, { 'retry-after': '1' }))
  big.next((response, asked) => completes(`Sent ${asked.headers.authorization}`)(response, asked))
  const id = await caller.start({ dag: routed, context: { topic: 'sluices' } })
  const events = await caller.until(id, isEnd)
  expect(events.map(({ type }) => type)).toContain('block:retrying')
  expect(events.at(-1)?.type).toBe('run:completed')
  const recorded = events.filter(({ type }) => type === 'block:output').map(({ data }) => data)
  expect(recorded).toMatchObject([
    { provider: 'own', model: 'llama3:8b', usd_micros: 0 },
    { provider: 'big', model: 'g-1', tokens_in: 21 },
  ])
  const starts = events.filter(({ type, block_id }) => type === 'block:started' && block_id === 'review')
  const [first = 0, second = 0] = starts.map(({ at }) => Date.parse(at))
  expect(second - first).toBeGreaterThanOrEqual(1_000)
  expect(big.asked.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`])
  expect(own.asked[0]?.headers.authorization).toBeUndefined()
})

test('an agent that nobody is, is refused at the start; who there is, is shown', async () => {
  const nobody = { blocks: [{ id: 'a', outputs, agent: { role: 'manager', prompt: 'p' } }] }
  const refused = await caller.call('POST', '/api/dag/run', { dag: nobody })
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('no_agent')])
  const shown = await caller.call('GET', '/api/agents')
  expect(shown.json).toMatchObject({
    agents: [{ name: 'writer' }, { name: 'editor' }],
    providers: ['local', 'extractive', 'own', 'few', 'aws', 'big'],
  })
})

test('a model of Bedrock answers with the credentials the function runs with', async () => {
  const agent = { provider: 'aws', model: NOVA, prompt: 'Say it.' }
  const events = await caller.until(await caller.start({ dag: { blocks: [{ id: 'a', outputs, agent }] } }), isEnd)
  const output = events.find(({ type }) => type === 'block:output')?.data
  expect(output).toMatchObject({
    provider: 'aws',
    model: NOVA,
    tokens_in: 21,
    tokens_out: 9,
    finish_reason: 'end_turn',
  })
  expect(models.asked[0]?.headers.authorization).toMatch(/us-east-1\/bedrock\/aws4_request/)
})

/** Four sandboxes of run-block work side by side here (test/aws/sandboxes.ts). */
test('of 50 blocks side by side never more than max_concurrency are asked at once, in any sandbox', async () => {
  const agent = { provider: 'few', model: 'm', prompt: 'Go' }
  const blocks = Array.from({ length: 50 }, (_, i) => ({ id: `b${i}`, outputs, agent }))
  const events = await caller.until(await caller.start({ dag: { name: 'many', blocks } }), isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(events.filter(({ type }) => type === 'block:started')).toHaveLength(50)
  expect(few.asked).toHaveLength(50)
  expect(busy.most).toBeLessThanOrEqual(2)
}, 240_000)

test('the key is read by run-block alone, and stands in no log, answer or template', async () => {
  await place.lambda.settled()
  expect(place.denied).toEqual([])
  expect(new Set(place.secrets.calls)).toEqual(new Set(['GetSecretValue']))
  const logs = [...place.functions.values()].flatMap((sandboxes) => sandboxes.logs)
  const config = await caller.call('GET', '/api/config')
  const runs = await caller.call('GET', '/api/dag/runs')
  const templates = JSON.stringify(
    ['SluiceData', 'SluiceMachines', 'SluiceApi'].map((stack) => made.template(stack as 'SluiceApi')),
  )
  const told = [...logs, config.text, runs.text, templates]
  expect(told.filter((text) => text.includes('canary'))).toEqual([])
  expect(logs.filter((line) => line.includes('"level":"error"'))).toEqual([])
})
