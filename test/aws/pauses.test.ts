import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { chats } from '../emulators/ollama-server.ts'
import { type ProviderServer, serveProvider } from '../emulators/provider-server.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'
import { openVirtualTime, type VirtualTime } from './virtual-time.ts'

/** Runs and documents that are paused on the deployed application: what is at work ends, nothing begins, no time runs on (docs/adr/0104). */
const DAY_MS = 86_400_000
const BELOW = `
name: below
blocks:
  - { id: c, outputs: { text: string }, agent: { provider: held, model: child, prompt: go } }
  - { id: d, depends: c.succeeded, outputs: { text: string }, agent: { provider: held, model: child-2, prompt: go } }
`
const dir = mkdtempSync(join(tmpdir(), 'sluice-pauses-'))
/** Models that answer when they are let; by name. */
const open = new Map<string, () => void>()
let held: ProviderServer
let made: Synthesized
let place: Deployment
let caller: Caller
let time: VirtualTime

beforeAll(async () => {
  held = await serveProvider(async (response, asked) => {
    await new Promise<void>((resolve) => open.set(String(asked.body.model), resolve))
    await chats('done')(response, asked)
  })
  mkdirSync(join(dir, 'dags'))
  writeFileSync(join(dir, 'dags', 'below.yaml'), BELOW)
  const settings = `providers: { held: { type: ollama, url: "${held.url}", max_concurrency: 50 } }\n`
  writeFileSync(join(dir, 'sluice.dev.yaml'), settings)
  made = await synthesize({}, readStageSettings(dir, { stage: 'dev' }), 'bundled', dir)
  time = openVirtualTime()
  place = await deploy(made.out, {}, undefined, undefined, time)
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close()
  await held?.close()
  made?.remove()
  rmSync(dir, { recursive: true, force: true })
})

const agent = (id: string, model: string, more: object = {}) => ({
  id,
  outputs: { text: 'string' },
  agent: { provider: 'held', model, prompt: 'go' },
  ...more,
})
const said = (id: string, more: object = {}) => ({
  id,
  mode: 'deterministic',
  outputs: { text: 'string' },
  deterministic: { handler: 'transform', config: { expression: '"said"' } },
  ...more,
})
const start = (name: string, blocks: readonly object[], more: object = {}) =>
  caller.start({ dag: { name, blocks, ...more } })
const run = (id: string, rest = '') => `/api/dag/runs/${id}${rest}`
const pause = (id: string, reason?: string) =>
  caller.call('POST', run(id, '/pause'), reason === undefined ? {} : { reason })
const resume = (id: string) => caller.call('POST', run(id, '/resume'), {})
const shown = async (id: string) => (await caller.call('GET', run(id))).json.run as Record<string, unknown>
const is = (type: RunEvent['type'], block?: string) => (event: RunEvent) =>
  event.type === type && (block === undefined || event.block_id === block)
const BEGINS: ReadonlySet<string> = new Set(['block:started', 'block:resumed', 'approval:requested'])

/** What models are asked for is answered once it was asked. */
async function answer(model: string): Promise<void> {
  await expect.poll(() => open.has(model)).toBe(true)
  open.get(model)?.()
  open.delete(model)
}

async function whilePaused(id: string): Promise<readonly RunEvent[]> {
  const events = await caller.events(id)
  const [from, to] = [events.findIndex(is('run:paused')), events.findIndex(is('run:resumed'))]
  return events.slice(from + 1, to === -1 ? undefined : to)
}

/** At a moment when no function is under way: a call that has begun ends in the time it began in. */
async function pass(ms: number): Promise<void> {
  const atWork = () => [...place.functions.values()].reduce((sum, one) => sum + one.underWay(), 0)
  while (atWork() > 0) await sleep(5)
  time.pass(ms)
}

/** Called by its schedule each second; what it began goes to its end. */
async function afterSweeps(): Promise<void> {
  for (let n = 0; n < 2; n += 1) await place.sandboxes('sweep').invoke({})
  await place.lambda.settled()
}

async function expectSound(id: string): Promise<void> {
  const { json } = await caller.call('GET', run(id, '/verify'))
  const { checks } = json as unknown as { checks: readonly { n: number; ok: boolean; problems: readonly string[] }[] }
  expect(checks.flatMap(({ n, ok, problems }) => (ok ? [] : [n, ...problems]))).toEqual([])
}

test('a question, a wait and a block at work: the block ends, nothing begins for two days, and all of it goes on as if they had not been', async () => {
  const id = await start('stands', [
    { id: 'ask', mode: 'approval', outputs: { decided_by: 'string' }, approval: { prompt: 'Go?', timeout_sec: 600 } },
    agent('work', 'stands'),
    { id: 'stand', mode: 'wait', wait: { for: '10m' } },
    said('next', { depends: 'work.succeeded' }),
    said('last', { depends: 'ask.succeeded && stand.succeeded && next.succeeded' }),
  ])
  for (const fits of [is('approval:requested'), is('block:waiting'), is('block:started', 'work')]) {
    await caller.until(id, fits)
  }
  const before = await shown(id)
  const told = await pause(id, 'prices change')
  expect(told).toMatchObject({ status: 200, json: { state: 'paused', paused: { by: 'iam:Deployer' } } })
  expect(await pause(id)).toMatchObject({ status: 409, json: { code: 'already_paused' } })
  await answer('stands')
  await caller.until(id, is('block:completed', 'work'))
  // `next` waits in a state of its own, nobody is at work, and its slot is given away.
  const called = () => place.deliveries.flatMap(({ run_id, arn }) => (run_id === id ? [arn.split(':').at(-1)] : []))
  const held_back = () => called().filter((name) => name?.endsWith('request-approval')).length
  await expect.poll(held_back).toBe(2)
  await pass(DAY_MS)
  await afterSweeps()
  // States whose own time is over have come once, and wait like the others: from here on nobody calls.
  await expect.poll(held_back).toBe(4)
  await place.lambda.settled()
  const seen = called().length
  await pass(DAY_MS)
  await afterSweeps()
  expect((await whilePaused(id)).filter(({ type }) => BEGINS.has(type))).toEqual([])
  expect((await whilePaused(id)).map(({ type }) => type)).not.toContain('approval:expired')
  expect(called().slice(seen)).toEqual([])
  expect(await shown(id)).toMatchObject({ state: 'paused', paused: { reason: 'prices change' } })
  const { json: listed } = await caller.call('GET', '/api/dag/runs?status=paused')
  expect(listed.runs).toMatchObject([{ run_id: id, state: 'paused' }])
  const asked = (await caller.events(id)).find(is('approval:requested'))
  expect(await caller.decide(id, asked, 'approve')).toMatchObject({ status: 200 })
  await place.lambda.settled()
  expect((await whilePaused(id)).filter(({ type }) => BEGINS.has(type))).toEqual([])

  const { status, json } = await resume(id)
  expect(status).toBe(200)
  expect(Number(json.stood_ms)).toBeGreaterThanOrEqual(2 * DAY_MS)
  await caller.until(id, is('block:completed', 'next'))
  expect((await caller.events(id)).filter(is('block:woken'))).toEqual([])
  const after = await shown(id)
  expect(Date.parse(String(after.deadline_at)) - Date.parse(String(before.deadline_at))).toBeGreaterThanOrEqual(
    Number(json.stood_ms),
  )
  await pass(600_000)
  expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
  expect(await resume(id)).toMatchObject({ status: 409, json: { code: 'run_ended' } })
  await expectSound(id)
})

test('behind the last block and in the midst of a list: each waits for the end of the pause and goes on from there', async () => {
  const one = await start('verdict', [agent('a', 'verdict')])
  const list = await start('list', [
    agent('each', 'list', { foreach: { items: ['x', 'y'], as: 'one', max_concurrency: 1 }, inputs: {} }),
  ])
  await caller.until(one, is('block:started'))
  await caller.until(list, ({ type, item }) => type === 'block:started' && item === 0)
  for (const id of [one, list]) expect((await pause(id)).status).toBe(200)
  await answer('verdict')
  await answer('list')
  await caller.until(one, is('block:completed'))
  await caller.until(list, ({ type, item }) => type === 'block:completed' && item === 0)
  await pass(DAY_MS)
  await afterSweeps()
  for (const id of [one, list]) expect((await whilePaused(id)).filter(({ type }) => BEGINS.has(type))).toEqual([])
  for (const id of [one, list]) expect(await shown(id)).toMatchObject({ state: 'paused' })
  for (const id of [one, list]) expect((await resume(id)).status).toBe(200)
  await answer('list')
  for (const id of [one, list]) {
    expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
    await expectSound(id)
  }
})

test('a child run stands with its parent and goes on with it; a paused run is stopped at once', async () => {
  const id = await start('above', [
    { id: 'sub', mode: 'dag', dag: { name: 'below' }, outputs: {} },
    agent('own', 'own'),
  ])
  const child = ((await caller.until(id, is('block:started', 'sub'))).find(is('block:started', 'sub'))?.data ?? {}) as {
    readonly child?: string
  }
  const below = child.child ?? ''
  await caller.until(below, is('block:started', 'c'))
  expect((await pause(id)).status).toBe(200)
  await caller.until(below, is('run:paused'))
  expect(await resume(below)).toMatchObject({ status: 409, json: { code: 'parent_paused' } })
  await answer('child')
  await caller.until(below, is('block:completed', 'c'))
  await pass(DAY_MS)
  await afterSweeps()
  expect((await whilePaused(below)).filter(({ type }) => BEGINS.has(type))).toEqual([])
  expect((await resume(id)).status).toBe(200)
  await caller.until(below, is('block:started', 'd'))
  await answer('child-2')
  await answer('own')
  expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
  for (const one of [id, below]) await expectSound(one)

  const stopped = await start('stopped', [agent('a', 'stopped')])
  await caller.until(stopped, is('block:started'))
  expect((await pause(stopped)).status).toBe(200)
  expect((await caller.call('POST', run(stopped, '/stop'), {})).status).toBe(200)
  expect((await caller.until(stopped, isEnd)).at(-1)?.type).toBe('run:cancelled')
  await answer('stopped')
})

test('a paused document says who paused it and starts nothing until it goes on', async () => {
  const change = (body: object) => caller.call('PATCH', '/api/dag/documents/below', body)
  const begin = () => caller.call('POST', '/api/dag/run', { dag: 'below' })
  expect(await change({ paused: true, reason: 'new prices' })).toMatchObject({
    status: 200,
    json: { changed: true, paused: { by: 'iam:Deployer', reason: 'new prices' } },
  })
  expect(await change({ paused: true })).toMatchObject({ status: 200, json: { changed: false } })
  expect((await caller.call('GET', '/api/dag/documents/below')).json).toMatchObject({
    paused: { reason: 'new prices' },
  })
  const refused = await begin()
  expect(refused).toMatchObject({ status: 409, json: { code: 'dag_paused' } })
  expect(refused.text).toContain('new prices')
  expect(await caller.call('PATCH', '/api/dag/documents/nothing', { paused: true })).toMatchObject({ status: 404 })
  expect(await change({ paused: false })).toMatchObject({ status: 200, json: { changed: true, paused: null } })
  const { status, json } = await begin()
  expect(status).toBe(201)
  await answer('child')
  await answer('child-2')
  expect((await caller.until(String(json.run_id), isEnd)).at(-1)?.type).toBe('run:completed')
})

test('no function failed in a way nobody expected, or wanted what its role does not allow', async () => {
  await place.lambda.settled()
  expect(place.api.errors).toEqual([])
  expect(place.denied).toEqual([])
})
