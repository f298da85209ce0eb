import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { slackSettings } from '../integration/aws/slack-settings.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Waits of every kind on the deployed application: bundles, roles, routes and machines of the templates. */
let made: Synthesized
let place: Deployment
let caller: Caller

const PUBLIC = 'https://sluice.example.com'
/** Events of a bus are the documents' of this tenant. */
const EVENTS = { bus: 'orders', pattern: { source: ['shop'] }, tenant: 'main' }

beforeAll(async () => {
  const { slack: _, ...settings } = slackSettings()
  made = await synthesize({}, { ...settings, public_url: PUBLIC, events: EVENTS })
  place = await deploy(made.out)
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close()
  made?.remove()
})

const says = (text: string) => ({
  mode: 'deterministic',
  deterministic: { handler: 'transform', config: { expression: text } },
})
const number = { n: { type: 'number', required: false } }
const start = (blocks: readonly object[], more: object = {}) =>
  caller.start({ dag: { name: 'waiting', blocks }, ...more })
const isWaiting = ({ type }: RunEvent) => type === 'block:waiting'
const of = (events: readonly RunEvent[], ...types: readonly string[]) =>
  events.flatMap((event) => (types.includes(event.type) ? [`${event.type} ${event.block_id ?? ''}`.trim()] : []))

test('a time, one of the document and one of an input, and what is behind them goes on', async () => {
  const at = new Date(Date.now() + 1_000).toISOString()
  const id = await start([
    { id: 'a', mode: 'wait', wait: { for: '1s' } },
    { id: 'b', mode: 'wait', inputs: { at: { type: 'string', default: at } }, wait: { until: '{{inputs.at}}' } },
    { id: 'c', ...says('1'), outputs: { n: 'number' }, depends: 'a.succeeded && b.succeeded' },
  ])
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(of(events, 'block:woken').toSorted()).toEqual(['block:woken a', 'block:woken b'])
  for (const wait of events.filter(isWaiting)) {
    const woken = events.find(({ type, block_id }) => type === 'block:woken' && block_id === wait.block_id)
    const until = wait.type === 'block:waiting' ? wait.data.until : ''
    expect(Date.parse(woken?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(until))
  }
  expect((await caller.call('GET', `/api/dag/runs/${id}/verify`)).json).toMatchObject({ ok: true })
})

test('events: one that came before, one by its match for each item of a list, one of a block, one of EventBridge', async () => {
  const send = (body: object) => caller.call('POST', '/api/events', body)
  expect(await send({ name: 'order.paid', key: 'early', payload: { n: 1 } })).toMatchObject({ status: 200 })
  const event = (more: object) => ({ mode: 'wait', wait: { event: { name: 'order.paid', ...more } }, outputs: number })
  const id = await start([
    { id: 'early', ...event({ key: 'early' }) },
    { id: 'each', ...event({ key: '{{inputs.item}}', match: 'event.payload.n > 1' }), foreach: { items: ['x', 'y'] } },
    { id: 'bus', mode: 'wait', wait: { event: { name: 'shop.closed' } }, outputs: number },
    { id: 'blocks', mode: 'wait', wait: { event: { name: 'told' } }, outputs: number },
    {
      id: 'tell',
      mode: 'deterministic',
      outputs: { woken: 'number' },
      deterministic: { handler: 'send-event', config: { name: 'told', payload_expression: '{"n": 7}' } },
    },
  ])
  await expect.poll(async () => (await caller.events(id)).filter(isWaiting).length, { timeout: 30_000 }).toBe(5)
  expect(await send({ name: 'order.paid', key: 'x', payload: { n: 1 } })).toMatchObject({ json: { woken: 0 } })
  const two = { name: 'order.paid', key: 'x', payload: { n: 2 }, id: 'x-2' }
  expect(await send(two)).toMatchObject({ json: { woken: 1 } })
  expect(await send(two)).toMatchObject({ json: { woken: 0 } })
  expect(await send({ ...two, key: 'y', id: 'y-2' })).toMatchObject({ json: { woken: 1 } })
  const delivered = { id: 'eb-1', 'detail-type': 'shop.closed', source: 'shop', detail: { n: 9 } }
  for (const woken of [1, 0]) expect(await place.sandboxes('receive-event').invoke(delivered)).toMatchObject({ woken })
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect((await caller.call('GET', `/api/dag/runs/${id}/verify`)).json).toMatchObject({ ok: true })
})

test('a callback: nobody signs, its address is its right, and it is of one use', async () => {
  const id = await start([
    { id: 'ask', mode: 'wait', wait: { callback: true, timeout: '5m' }, outputs: { n: 'number' } },
    {
      id: 'tell',
      inputs: { url: { from: 'ask.callback_url' } },
      outputs: { url: 'string' },
      mode: 'deterministic',
      deterministic: { handler: 'transform', config: { expression: 'inputs.url' } },
    },
  ])
  const told = await caller.until(id, ({ type, block_id }) => type === 'block:completed' && block_id === 'tell')
  const { json } = await caller.call('GET', `/api/dag/runs/${id}/outputs/tell`)
  const url = /https:\/\/sluice\.example\.com\/api\/callbacks\/[\w.-]+/.exec(JSON.stringify(json))?.[0] ?? ''
  expect(url).not.toBe('')
  expect(of(told, 'block:woken')).toEqual([])
  const call = async (to: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(to.replace(PUBLIC, place.api.url), {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return [answer.status, ((await answer.json()) as { code?: string }).code]
  }
  expect(await call(`${url.slice(0, -3)}AAA`, { n: 1 })).toEqual([404, 'unknown_callback'])
  expect(await call(url, { n: 'many' })).toEqual([422, 'callback_not_fitting'])
  expect(await call(url, { n: 1 })).toEqual([200, undefined])
  expect(await call(url, { n: 2 })).toEqual([409, 'callback_used'])
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect((await caller.call('GET', `/api/dag/runs/${id}/verify`)).json).toMatchObject({ ok: true })
})

test('a time-out fails the block or completes it without outputs; a stop ends its wait at once', async () => {
  const event = (name: string, timeout: string, on_timeout: string) => ({
    mode: 'wait',
    wait: { event: { name }, timeout, on_timeout },
    outputs: number,
  })
  const id = await start([
    { id: 'a', ...event('never', '1s', 'complete') },
    { id: 'b', ...event('never', '2s', 'fail') },
  ])
  const events = await caller.until(id, isEnd)
  expect(of(events, 'block:completed', 'block:failed')).toEqual(['block:completed a', 'block:failed b'])
  expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'wait_timeout' } })
  const stopped = await start([{ id: 'a', ...event('never', '1h', 'fail') }])
  await caller.until(stopped, isWaiting)
  expect(await caller.call('POST', `/api/dag/runs/${stopped}/stop`, {})).toMatchObject({ status: 200 })
  expect((await caller.until(stopped, isEnd)).at(-1)?.type).toBe('run:cancelled')
})
