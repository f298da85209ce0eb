import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import { RESEARCH_ROUTES } from '../../shared/api/research-routes.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
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
  own = await startOllama(({ body }) => chainSays(JSON.stringify(body)) ?? `Draft by ${body.model}`)
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
    'spending: [{ name: all, per: month, tokens: 10000000 }, { name: dear, per: month, tokens: 40, dag: dear }]',
    'prices: { "big/g-1": { input: 1000, output: 2000 } }',
    'research: { provider: own, model: "llama3:8b" }',
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

/** What the model says to the stages of the research chain, by how their questions begin (shared/prompts). */
function chainSays(asked: string): string | undefined {
  if (asked.includes('You choose how a question')) return JSON.stringify({ action: 'synthesize_directly' })
  if (!asked.includes('You answer a question')) return undefined
  return JSON.stringify({ synthesis: 'The capital of Norway is Oslo [1]. The capital of Norway is never Oslo [1].' })
}

test('keep_unsupported marks what no evidence says, in the text and in the result', async () => {
  const entities = [
    { entity_id: 'acme.ops.geo.atlas.country.no', label: 'Norway', snippet: 'The capital of Norway is Oslo.' },
  ]
  expect((await caller.call('PUT', '/api/graph/entities', { entities })).status).toBe(200)
  const isFound = async () => (await caller.call('GET', '/api/graph/search?q=Norway')).json.hits
  await expect.poll(isFound, { timeout: 30_000 }).toHaveLength(1)
  const asked = { topic: 'What is the capital of Norway?', budget_tokens: 20_000, keep_unsupported: true }
  const { json } = await caller.call('POST', '/api/research', asked)
  const isOver = async () => (await caller.call('GET', `/api/research/${json.run_id}?wait=20`)).status
  await expect.poll(isOver, { timeout: 60_000 }).toBe(200)
  const answer = await caller.call('GET', `/api/research/${json.run_id}`)
  const { result, degraded } = RESEARCH_ROUTES['get-research'].answer.parse(answer.json)
  expect(result?.synthesis).toContain('Oslo [1]. (unsupported) The capital of Norway is never Oslo [1].')
  expect(result?.sentences?.map(({ status }) => status)).toEqual(['quoted', 'unsupported'])
  expect(degraded).toEqual(['the synthesis did not hold against its evidence'])
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
    { provider: 'big', model: 'g-1', tokens_in: 21, usd_micros: 39_000 },
  ])
  const starts = events.filter(({ type, block_id }) => type === 'block:started' && block_id === 'review')
  const [first = 0, second = 0] = starts.map(({ at }) => Date.parse(at))
  expect(second - first).toBeGreaterThanOrEqual(1_000)
  expect(big.asked.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`])
  expect(own.asked[0]?.headers.authorization).toBeUndefined()
})

test('a provider that is away is passed over, and the next one answers within the attempt', async () => {
  big.next(json(503, {}))
  const agent = { provider: 'big', model: 'g-1', prompt: 'Go', fallback: [{ provider: 'aws', model: NOVA }] }
  const events = await caller.until(await caller.start({ dag: { blocks: [{ id: 'a', outputs, agent }] } }), isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(events.filter(({ type }) => type === 'block:started')).toHaveLength(1)
  expect(events.find(({ type }) => type === 'block:output')?.data).toMatchObject({
    provider: 'aws',
    model: NOVA,
    passed_over: [{ provider: 'big', model: 'g-1', code: 'provider_unavailable' }],
  })
})

test('a cap in dollars holds behind a gateway whose price the settings say, and stops the run there', async () => {
  const asking = (max_tokens: number) => ({
    outputs,
    agent: { provider: 'big', model: 'g-1', prompt: 'x'.repeat(400), model_params: { max_tokens } },
  })
  const second = { id: 'b', ...asking(500), inputs: { text: { from: 'a.text' } } }
  const asked = big.asked.length
  const id = await caller.start({ dag: { budget: { usd: 1 }, blocks: [{ id: 'a', ...asking(200) }, second] } })
  const events = await caller.until(id, isEnd)
  const told = events.filter(({ type }) => type === 'block:output' || type === 'block:failed')
  expect(told.map(({ block_id, data }) => [block_id, data])).toMatchObject([
    ['a', { usd_micros: 39_000 }],
    ['b', { code: 'budget_exceeded' }],
  ])
  expect(big.asked).toHaveLength(asked + 1)
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

/** Provider `local` asks no model, so no cap is ever in its way: this is here and not in asks.test.ts. */
test('a question about the budget raises the cap in HEAD, and the items of a list go on', async () => {
  const agent = { provider: 'own', model: 'm', prompt: '{{inputs.item}}', model_params: { max_tokens: 200 } }
  const each = {
    id: 'use',
    outputs,
    agent,
    foreach: { items: ['one', 'two', 'three'], as: 'item', max_concurrency: 3 },
  }
  const dag = { name: 'asks-more', budget: { tokens: 50, on_exceed: 'ask' }, blocks: [each] }
  const id = await caller.start({ dag })
  const seen = new Set<string>()
  for (;;) {
    const open = (event: RunEvent) => event.type === 'approval:requested' && !seen.has(event.data.approval_id)
    const events = await caller.until(id, (event) => open(event) || isEnd(event))
    const asked = events.find(open)
    if (asked?.type !== 'approval:requested') {
      expect(events.at(-1)?.type).toBe('run:completed')
      expect(events.some(({ type, block_id }) => block_id === 'use' && type === 'block:resumed')).toBe(true)
      expect(events.filter(({ type, item }) => type === 'block:output' && item !== undefined)).toHaveLength(3)
      return
    }
    const { approval_id, digest } = asked.data
    seen.add(approval_id)
    const body = { approval_id, digest, decision: 'approve', feedback: 'as I see it' }
    expect((await caller.call('POST', `/api/dag/runs/${id}/approvals`, body)).status).toBe(200)
  }
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

test('calls of every run are in the counts of spending, a call over a cap is not made, and it may be raised', async () => {
  const agent = { provider: 'big', model: 'g-1', prompt: 'Go', model_params: { max_tokens: 10 } }
  const dag = { name: 'dear', blocks: [{ id: 'a', outputs, agent }] }
  const events = await caller.until(await caller.start({ dag }), isEnd)
  // 21 and 9 of the first; what the second may use does not fit.
  expect(events.filter(({ type }) => type === 'spending:near')).toEqual([])
  const second = await caller.until(await caller.start({ dag }), isEnd)
  expect(second.find(({ type }) => type === 'block:failed')?.data).toMatchObject({ code: 'spending_reached' })
  const raised = await caller.call('POST', '/api/spending/raise', { cap: 'dear', tokens: 21, reason: 'one more' })
  expect(raised.json).toMatchObject({ cap: { name: 'dear', reached: false, tokens: { spent: 30, raised: 21 } } })
  const third = await caller.until(await caller.start({ dag }), isEnd)
  expect(third.at(-1)?.type).toBe('run:completed')
  // Told by what it used: its estimate was less.
  expect(third.map(({ type }) => type)).toContain('spending:near')
  const shown = await caller.call('GET', '/api/spending')
  expect(shown.json).toMatchObject({ caps: [{ name: 'all' }, { name: 'dear', tokens: { spent: 60, left: 1 } }] })
  const [all] = (shown.json.caps ?? []) as readonly { readonly tokens: { readonly spent: number } }[]
  expect(all?.tokens.spent).toBeGreaterThanOrEqual(60)
})

test('the key is read by run-block alone, and stands in no log, answer or template', async () => {
  await place.lambda.settled()
  expect(place.denied).toEqual([])
  expect(new Set(place.secrets.calls)).toEqual(new Set(['GetSecretValue']))
  const logs = [...place.functions.values()].flatMap((sandboxes) => sandboxes.logs)
  const config = await caller.call('GET', '/api/config')
  const runs = await caller.call('GET', '/api/dag/runs')
  const templates = JSON.stringify(
    ['SluiceData', 'SluiceMachines', 'SluiceOperations', 'SluiceApi'].map((stack) =>
      made.template(stack as 'SluiceApi'),
    ),
  )
  const told = [...logs, config.text, runs.text, templates]
  expect(told.filter((text) => text.includes('canary'))).toEqual([])
  expect(logs.filter((line) => line.includes('"level":"error"'))).toEqual([])
})
