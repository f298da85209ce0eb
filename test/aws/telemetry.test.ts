import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import { runTraceId } from '../../shared/telemetry/span-ids.ts'
import { completes, startOpenai } from '../emulators/openai-server.ts'
import { type Collector, startCollector } from '../emulators/otlp-server.ts'
import { hang, json, type ProviderServer } from '../emulators/provider-server.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { outside, tree } from '../integration/telemetry/place.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Spans on the deployed application: a collector on this machine, as an extension of a function would be. */
const arn = (name: string) => `arn:aws:secretsmanager:eu-central-1:000000000000:secret:sluice/${name}-AbCdEf`
const KEY = 'sk-canary-77b1f0c2'
const TOKEN = 'canary-otlp-0c5e'
const WORDS = 'canary-prompt-words'
const SHIPPED = readFileSync(join(import.meta.dirname, '../../sluice.yaml'), 'utf8')
const dir = mkdtempSync(join(tmpdir(), 'sluice-stage-'))
let model: ProviderServer
let collector: Collector
let made: Synthesized
let place: Deployment
let caller: Caller

beforeAll(async () => {
  model = await startOpenai(() => 'Done.', KEY)
  collector = await startCollector(TOKEN)
  const lines = [
    'providers:',
    `  big: { type: openai-compatible, url: "${model.url}/v1", key: { secret: "${arn('big')}" } }`,
    'telemetry:',
    `  otlp: { endpoint: "${collector.url}", headers: { authorization: { secret: "${arn('otlp')}" } } }`,
    // The shipped coding-gates moves a task: its agents, gates and pipeline are those of the shipped settings.
    SHIPPED.slice(SHIPPED.indexOf('\nagents:')),
  ]
  writeFileSync(join(dir, 'sluice.dev.yaml'), lines.join('\n'))
  made = await synthesize({}, readStageSettings(dir, { stage: 'dev' }))
  place = await deploy(made.out, { [arn('big')]: KEY, [arn('otlp')]: `Bearer ${TOKEN}` })
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close()
  await collector?.close()
  await model?.close()
  made?.remove()
  rmSync(dir, { recursive: true, force: true })
})

const outputs = { text: { type: 'string' } }
const agent = { provider: 'big', model: 'g-1', prompt: `Say ${WORDS}` }
const retry = { max_attempts: 2, backoff: 'none', delay_ms: 1 }
const dag = {
  name: 'traced',
  blocks: [
    { id: 'write', outputs, agent, retry },
    { id: 'review', inputs: { text: { from: 'write.text' } }, outputs, agent },
  ],
}
const spansOf = async (run: string) => {
  await place.lambda.settled()
  return collector.spans.filter(({ attributes }) => attributes['sluice.run_id'] === run)
}
const logs = () => [...place.functions.values()].flatMap((sandboxes) => sandboxes.logs)
const lines = () =>
  logs()
    .flatMap((text) => text.split('\n'))
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))

test('a run through many functions is one trace, linked to those of X-Ray, with the rights of the roles', async () => {
  model.next(json(429, {}, { 'retry-after': '1' }), completes(`Echo ${WORDS}`))
  const id = await caller.start({ dag })
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  await expect.poll(async () => (await spansOf(id)).length, { timeout: 10_000 }).toBe(7)
  const spans = await spansOf(id)
  expect(tree(spans).toSorted()).toEqual([
    'block review < invoke_workflow traced',
    'block write < invoke_workflow traced',
    'block write < invoke_workflow traced',
    'chat g-1 < block review',
    'chat g-1 < block write',
    'chat g-1 < block write',
    'invoke_workflow traced',
  ])
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([runTraceId(id)]))
  expect([outside(spans), collector.refused, place.denied]).toEqual([[], [], []])
  expect(spans[0]?.resource).toEqual({
    'service.name': 'sluice',
    'deployment.environment.name': 'dev',
    'cloud.provider': 'aws',
    'cloud.region': 'eu-central-1',
  })
  // Each invocation is in a trace of X-Ray, which its lines in the log name too.
  const linked = spans.map(({ links = [] }) => links.at(-1)?.attributes[0]?.value)
  const xray = new Set(linked.map((value) => (value !== undefined && 'stringValue' in value ? value.stringValue : '')))
  expect([...xray].every((root) => /^1-[0-9a-f]{8}-[0-9a-f]{24}$/.test(root))).toBe(true)
  expect(xray.size).toBeGreaterThanOrEqual(4)
  const [link] = spans[0]?.links ?? []
  expect([...xray].map((root) => root.slice(2).replace('-', ''))).toContain(link?.traceId)
})

test('lines of the log say function, request, X-Ray trace and run', async () => {
  const id = await caller.start({ dag })
  await caller.until(id, isEnd)
  await place.lambda.settled()
  const [started] = lines().filter(({ message, run_id }) => message === 'run started' && run_id === id)
  expect(started).toMatchObject({
    function: 'start-run',
    stage: 'dev',
    request_id: expect.any(String),
    xray_trace_id: expect.stringMatching(/^1-/),
  })
})

test('a run that is stopped by a route is told by that route', async () => {
  model.next(hang)
  const id = await caller.start({ dag })
  await caller.until(id, ({ type }) => type === 'block:started')
  await caller.call('POST', `/api/dag/runs/${id}/stop`, { reason: 'enough' })
  await expect
    .poll(async () => tree(await spansOf(id)).toSorted(), { timeout: 20_000 })
    .toEqual(['block write < invoke_workflow traced', 'chat g-1 < block write', 'invoke_workflow traced'])
})

test('a collector that is slow or away holds no run up for long, and is no error of a function', async () => {
  collector.next(hang, hang, json(503, {}))
  const id = await caller.start({ dag: { ...dag, blocks: dag.blocks.slice(0, 1) } })
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  // A function that waited on would have been ended by its own limit of time, which is an error.
  await place.lambda.settled()
  const told = lines().filter(({ message }) => message === 'spans do not reach their collector')
  expect(told.length).toBeGreaterThan(0)
  expect(lines().filter(({ level }) => level === 'error')).toEqual([])
})

test('no word of prompts and answers and no key is in a span, a log, a template or the configuration', async () => {
  expect(collector.requests.every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`)).toBe(true)
  const config = await caller.call('GET', '/api/config')
  const stacks = ['SluiceData', 'SluiceMachines', 'SluiceOperations', 'SluiceApi'] as const
  const templates = JSON.stringify(stacks.map((stack) => made.template(stack)))
  const told = [JSON.stringify(collector.requests.map(({ body }) => body)), ...logs(), config.text, templates]
  expect(told.filter((text) => text.includes('canary'))).toEqual([])
  expect(config.text).toContain('capture_content')
})
