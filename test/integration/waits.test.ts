import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { Json } from '../../shared/text/json.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** Whole runs of the local place whose blocks wait. */
let place: TestPlace

beforeAll(async () => {
  place = await openTestPlace({}, { public_url: 'https://place.example/base/' })
})
afterAll(() => place.close())

interface Answer {
  readonly status: number
  readonly json: Readonly<Record<string, Json>>
}

async function ask(
  name: string,
  params: Readonly<Record<string, string>> | null,
  body: unknown,
  type = 'application/json',
): Promise<Answer> {
  const answer = await place.place.invoke(name, {
    httpMethod: 'POST',
    path: '/',
    pathParameters: params,
    queryStringParameters: null,
    headers: { 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    isBase64Encoded: false,
  })
  const { statusCode, body: text } = answer as { statusCode: number; body: string }
  return { status: statusCode, json: JSON.parse(text) }
}

const send = (event: object) => ask('send-event', null, event)
const answerCallback = (url: string, body: unknown, type?: string) =>
  ask('answer-callback', { token: url.split('/').at(-1) ?? '' }, body, type)

const types = (events: readonly RunEvent[]) =>
  events.map(({ type, block_id }) => `${type}${block_id ? ` ${block_id}` : ''}`)
const waiting = (runId: string, count = 1) =>
  expect.poll(async () => (await place.events(runId)).filter(({ type }) => type === 'block:waiting').length).toBe(count)

async function output(runId: string, block: string, port: string): Promise<Json> {
  const events = await place.events(runId)
  const found = events.findLast((event) => event.type === 'block:output' && event.block_id === block)
  const ref = found?.type === 'block:output' ? found.data.outputs[port]?.ref : undefined
  if (ref === undefined) throw new Error(`no output ${block}.${port}`)
  return JSON.parse(Buffer.from(await place.place.world.objects.get('main', ref)).toString('utf8'))
}

/** Each waits for real time: they wait together. */
describe.concurrent('a wait that takes its time', () => {
  test('completes when its time has come, and what is behind it goes on', async () => {
    const run = await place.start(`
name: later
blocks:
  - { id: pause, mode: wait, wait: { for: 1s } }
  - { id: after, mode: deterministic, deterministic: { handler: transform, config: { expression: '"done"' } }, outputs: { text: string } }
edges: [{ from: pause, to: after }]
`)
    const events = await place.ended(run)
    expect(types(events)).toEqual([
      'run:started',
      'block:ready pause',
      'block:started pause',
      'block:waiting pause',
      'block:woken pause',
      'block:output pause',
      'block:completed pause',
      'block:ready after',
      'block:started after',
      'block:output after',
      'block:completed after',
      'run:completed',
    ])
    const [begun] = events.filter((event) => event.type === 'block:waiting')
    const woken = events.find(({ type }) => type === 'block:woken')
    expect(Date.parse(woken?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(begun?.data.until ?? ''))
  })

  test('is until a time of an input; one that has passed is over at once, one that is none fails', async () => {
    const dag = `
name: until
inputs: { at: string }
blocks:
  - { id: pause, mode: wait, wait: { until: "{{inputs.at}}" } }
`
    const soon = new Date(Date.now() + 1_500).toISOString()
    const first = await place.start(dag, { inputs: { at: soon } })
    const events = await place.ended(first)
    expect(events.at(-1)?.type).toBe('run:completed')
    const woken = events.find(({ type }) => type === 'block:woken')
    expect(Date.parse(woken?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(soon))
    const past = await place.ended(await place.start(dag, { inputs: { at: '2020-01-01T00:00:00Z' } }))
    expect(past.at(-1)?.type).toBe('run:completed')
    const none = await place.ended(await place.start(dag, { inputs: { at: 'tomorrow' } }))
    expect(none.findLast(({ type }) => type === 'block:failed')?.data).toMatchObject({ code: 'wait_time_invalid' })
  })

  test('for an event that its match cannot judge is no match, and the record says so', async () => {
    const run = await place.start(`
name: looping
blocks:
  - id: w
    mode: wait
    wait: { event: { name: loop, match: '($f := function($n) { $f($n + 1) }; $f(1))' }, timeout: 1h }
    outputs: { x: { type: number, required: false } }
`)
    await place.until(run, ({ type }) => type === 'block:waiting')
    expect((await send({ name: 'loop', payload: {} })).json).toMatchObject({ woken: 0 })
    const told = await place.until(run, ({ type }) => type === 'block:match_failed')
    expect(told.data).toMatchObject({ reason: expect.stringContaining('could not be computed') })
    expect((await ask('stop-run', { run_id: run }, {})).status).toBe(200)
    await place.ended(run)
  })

  test('for an event that does not come in time fails the block, or completes it without outputs', async () => {
    const fails = '{name: t, blocks: [{id: w, mode: wait, wait: {event: {name: never}, timeout: 1s}}]}'
    const completes =
      '{name: t, blocks: [{id: w, mode: wait, wait: {event: {name: never}, timeout: 1s, on_timeout: complete}}]}'
    const [first, second] = [await place.start(fails), await place.start(completes)]
    const events = await place.ended(first)
    expect(events.findLast(({ type }) => type === 'block:failed')?.data).toMatchObject({ code: 'wait_timeout' })
    expect((await place.ended(second)).at(-1)?.type).toBe('run:completed')
  })
})

describe('a wait for an event', () => {
  const dag = `
name: order
inputs: { order: string }
blocks:
  - id: paid
    mode: wait
    wait: { event: { name: order.paid, key: "{{inputs.order}}", match: "event.payload.amount > 10" } }
    outputs: { amount: number, note: { type: string, required: false } }
`
  const crowded = (name: string) => `
name: crowded
blocks:
  - { id: w, mode: wait, wait: { event: { name: ${name}, match: "event.payload.amount > 10" }, timeout: 5m }, outputs: { amount: number } }
`
  /** As a sender that died right after it kept it. */
  const keep = async (name: string, id: string, ago_ms: number, value: Json) => {
    const payload = await place.place.world.objects.put('main', Buffer.from(JSON.stringify(value)))
    const at = new Date(Date.now() - ago_ms).toISOString()
    const expires_at = new Date(Date.now() + 600_000).toISOString()
    const event = { tenant: 'main', id: `${name}-${id}`, name, at, expires_at, payload, by: 'user:ana' }
    await place.place.world.waits.keepEvent(event)
  }

  test('is ended by the first event that matches, whose payload becomes its outputs', async () => {
    const run = await place.start(dag, { inputs: { order: 'a1' } })
    await waiting(run)
    expect((await place.call('get-run', run)).json).toMatchObject({ run: { state: 'waiting' } })
    expect((await send({ name: 'order.paid', key: 'a1', payload: { amount: 3 } })).json).toMatchObject({ woken: 0 })
    expect((await send({ name: 'order.paid', key: 'a2', payload: { amount: 30 } })).json).toMatchObject({ woken: 0 })
    expect((await send({ name: 'order.paid', key: 'a1', payload: { amount: 30 } })).json).toMatchObject({
      woken: 1,
      all: true,
    })
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(await output(run, 'paid', 'amount')).toBe(30)
  })

  test('that came before it is not lost', async () => {
    await send({ name: 'order.paid', key: 'b1', payload: { amount: 12, note: 'early' }, id: 'early-1' })
    const run = await place.start(dag, { inputs: { order: 'b1' } })
    const events = await place.ended(run)
    expect(events.find(({ type }) => type === 'block:woken')?.data).toMatchObject({ by: 'event', event_id: 'early-1' })
    expect(await output(run, 'paid', 'note')).toBe('early')
  })

  test('that came before more than a thousand others of its name is not lost either', async () => {
    await keep('crowd', 'wanted', 60_000, { amount: 99 })
    for (let n = 0; n < 1_001; n += 1) await keep('crowd', `other-${n}`, 30_000 - n, { amount: 1 })
    const events = await place.ended(await place.start(crowded('crowd')))
    expect(events.find(({ type }) => type === 'block:woken')?.data).toMatchObject({ event_id: 'crowd-wanted' })
  })

  test('of ten thousand that do not match, one more is told as what it is', { tags: ['thorough'] }, async () => {
    for (let n = 0; n < 10_000; n += 1) await keep('flood', `${n}`, 30_000 - n, { amount: 1 })
    const waits = await place.start(crowded('flood'))
    await waiting(waits)
    expect((await place.call('get-run', waits)).json).toMatchObject({ run: { state: 'waiting' } })
    await keep('flood', 'wanted', 60_000, { amount: 99 })
    const events = await place.ended(await place.start(crowded('flood')))
    expect(events.findLast(({ type }) => type === 'block:failed')?.data).toMatchObject({
      code: 'wait_kept_too_many',
      reason: expect.stringContaining('there are more than 10000, and its match is true of none of the newest'),
    })
    await ask('stop-run', { run_id: waits }, {})
    await place.ended(waits)
  })

  test('the same id again is the same event; another event of it is refused', async () => {
    const first = await send({ name: 'x.y', id: 'same', payload: { a: 1 } })
    const again = await send({ name: 'x.y', id: 'same', payload: { a: 1 } })
    expect(again.json.event).toEqual(first.json.event)
    expect(await send({ name: 'x.y', id: 'same', payload: { a: 2 } })).toMatchObject({
      status: 409,
      json: { code: 'event_id_used' },
    })
  })

  test('wakes every wait of its name', async () => {
    const all = `
name: all
blocks:
  - { id: a, mode: wait, wait: { event: { name: go.all } }, outputs: { n: number } }
  - { id: b, mode: wait, wait: { event: { name: go.all } }, outputs: { event: json } }
`
    const runs = [await place.start(all), await place.start(all)]
    for (const run of runs) await waiting(run, 2)
    expect((await send({ name: 'go.all', payload: { n: 1 } })).json).toMatchObject({ woken: 4 })
    for (const run of runs) expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(await output(runs[0] ?? '', 'b', 'event')).toEqual({ n: 1 })
  })

  test('retried by its policy, it is not woken by what came before', async () => {
    const run = await place.start(`
name: again
blocks:
  - id: w
    mode: wait
    wait: { event: { name: try.me } }
    outputs: { n: number }
    post_gates: [{ name: two, check: { type: equals, port: n, value: 2 } }]
    retry: { max_attempts: 2, delay_ms: 0 }
`)
    await waiting(run)
    await send({ name: 'try.me', payload: { n: 1 } })
    await waiting(run, 2)
    await send({ name: 'try.me', payload: { n: 2 } })
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(events.filter(({ type }) => type === 'block:woken')).toHaveLength(2)
  })
})

describe('a wait for a callback', () => {
  const dag = `
name: callback
blocks:
  - id: tell
    mode: deterministic
    deterministic: { handler: pass }
    inputs: { url: { from: answer.callback_url } }
    outputs: { url: string }
  - id: answer
    mode: wait
    wait: { callback: true, timeout: 1h }
    outputs: { ok: boolean, note: { type: string, required: false } }
`
  const urlOf = async (run: string) => {
    await place.until(run, ({ type, block_id }) => type === 'block:completed' && block_id === 'tell')
    return String(await output(run, 'tell', 'url'))
  }

  test('is known before it is waited for; one answer that fits ends it, the next is told so', async () => {
    const run = await place.start(dag)
    const url = await urlOf(run)
    expect(url).toMatch(/^https:\/\/place\.example\/base\/api\/callbacks\/[\w-]+\.[\w-]{43}$/)
    await waiting(run)
    expect(await answerCallback(url, { ok: 'yes' })).toMatchObject({
      status: 422,
      json: { code: 'callback_not_fitting' },
    })
    expect(await answerCallback(url, '{"ok": ')).toMatchObject({ status: 400 })
    expect(await answerCallback(url, 'x=1', 'application/x-www-form-urlencoded')).toMatchObject({ status: 415 })
    expect(await answerCallback(url, { ok: true, note: 'x'.repeat(70_000) })).toMatchObject({ status: 413 })
    expect(await answerCallback(url, { ok: true })).toMatchObject({
      status: 200,
      json: { status: 'taken', block_id: 'answer' },
    })
    expect(await answerCallback(url, { ok: false })).toMatchObject({ status: 409, json: { code: 'callback_used' } })
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(await output(run, 'answer', 'ok')).toBe(true)
    expect(await answerCallback(url, { ok: false })).toMatchObject({ status: 409, json: { code: 'callback_used' } })
  })

  test('that was tampered with is not there, whatever is wrong', async () => {
    const run = await place.start(dag)
    const url = await urlOf(run)
    const [head = '', mac = ''] = url.split('/').at(-1)?.split('.') ?? []
    const other = Buffer.from(JSON.stringify(['main', run, 0, 0])).toString('base64url')
    for (const token of [
      `${other}.${mac}`,
      `${head}.${'A'.repeat(43)}`,
      `${head}.${mac}x`,
      head,
      'x',
      `${head}.${mac}.`,
      '%00',
    ]) {
      expect(await answerCallback(token, { ok: true })).toMatchObject({
        status: 404,
        json: { code: 'unknown_callback' },
      })
    }
    await ask('stop-run', { run_id: run }, {})
    await place.ended(run)
    expect(await answerCallback(url, { ok: true })).toMatchObject({ status: 410, json: { code: 'callback_over' } })
  })

  test('that is answered before it is reached is not lost', async () => {
    const run = await place.start(`
name: early
blocks:
  - { id: tell, mode: deterministic, deterministic: { handler: pass }, inputs: { url: { from: answer.callback_url } }, outputs: { url: string } }
  - { id: first, mode: wait, wait: { event: { name: early.go } } }
  - { id: answer, mode: wait, wait: { callback: true }, outputs: { text: string } }
edges: [{ from: first, to: answer }]
`)
    const url = await urlOf(run)
    await waiting(run)
    expect(await answerCallback(url, 'hello', 'text/plain; charset=utf-8')).toMatchObject({ status: 200 })
    await send({ name: 'early.go' })
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(await output(run, 'answer', 'text')).toBe('hello')
  })
})

describe('whatever is waited for', () => {
  test('a block that is stopped ends its wait at once, and the run with it', async () => {
    const run = await place.start('{name: s, blocks: [{id: w, mode: wait, wait: {for: 30d}}]}')
    await waiting(run)
    expect((await ask('stop-run', { run_id: run }, { block_id: 'w' })).status).toBe(200)
    const events = await place.ended(run)
    expect(events.at(-1)?.data).toMatchObject({ code: 'block_cancelled' })
  })

  test('the deadline of the run stands still meanwhile', async () => {
    const run = await place.start('{name: d, blocks: [{id: w, mode: wait, wait: {for: 2s}}]}', {
      options: { deadline_sec: 1 },
    })
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
  })

  test('it takes no place among the blocks that may run at once', async () => {
    const run = await place.start(
      `
name: places
blocks:
  - { id: a, mode: wait, wait: { event: { name: places.go } } }
  - { id: b, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }
`,
      { options: { max_parallel: 1 } },
    )
    await place.until(run, ({ type, block_id }) => type === 'block:completed' && block_id === 'b')
    await send({ name: 'places.go' })
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
  })

  test('each item of a list may wait', async () => {
    const run = await place.start(
      `
name: items
inputs: { ids: json }
blocks:
  - id: w
    mode: wait
    foreach: { items: "{{inputs.ids}}", as: id }
    wait: { event: { name: item.done, key: "{{inputs.id}}" } }
    outputs: { n: number }
`,
      { inputs: { ids: ['p', 'q', 'r'] } },
    )
    await waiting(run, 3)
    expect((await place.call('get-run', run)).json).toMatchObject({ run: { state: 'waiting' } })
    for (const [n, key] of ['q', 'r', 'p'].entries()) await send({ name: 'item.done', key, payload: { n } })
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(await output(run, 'w', 'n')).toEqual([2, 0, 1])
  })

  test('a wait outlives the process: it is there after a kill, and its time counts on', async () => {
    const run = await place.start(
      '{name: k, blocks: [{id: t, mode: wait, wait: {for: 1s}}, {id: e, mode: wait, wait: {event: {name: kill.go}}}]}',
    )
    await waiting(run, 2)
    await place.kill()
    await place.until(run, ({ type, block_id }) => type === 'block:completed' && block_id === 't')
    expect((await send({ name: 'kill.go' })).json).toMatchObject({ woken: 1 })
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
  })
})
