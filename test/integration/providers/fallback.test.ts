import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EventType, RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { startOllama } from '../../emulators/ollama-server.ts'
import { startOpenai } from '../../emulators/openai-server.ts'
import { hang, json, type ProviderServer } from '../../emulators/provider-server.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** Who answers in place of an agent's provider, on the local place, whose providers are servers of this test. */
let own: ProviderServer
let big: ProviderServer
let place: TestPlace
beforeEach(async () => {
  own = await startOllama(({ body }) => `Said by ${body.model}`)
  big = await startOpenai(({ body }) => `Said by ${body.model}`)
  place = await openTestPlace({}, settings())
})
afterEach(async () => {
  await place.close()
  await own.close()
  await big.close()
})

const settings = () => ({
  providers: {
    own: { type: 'ollama', url: own.url },
    few: { type: 'ollama', url: own.url, max_concurrency: 1 },
    big: { type: 'openai-compatible', url: `${big.url}/v1`, breaker: { failures: 2 } },
    late: { type: 'openai-compatible', url: `${big.url}/v1`, timeout_ms: 300 },
  },
  prices: {
    'own/*': { input: 1, output: 1 },
    'big/*': { input: 1_000, output: 1_000 },
    'late/*': { input: 1, output: 1 },
  },
})

const block = (agent: object, more: object = {}) => ({
  id: 'a',
  outputs: { text: 'string' },
  retry: { max_attempts: 1 },
  agent: { provider: 'big', model: 'g-1', prompt: 'Go', fallback: [{ provider: 'own', model: 'm-2' }], ...agent },
  ...more,
})
const run = async (agent: object = {}, more: object = {}, document: object = {}) => {
  const id = await place.start({ ...document, blocks: [block(agent, more)] })
  return { id, events: await place.ended(id) }
}
function of<T extends EventType>(events: readonly RunEvent[], type: T) {
  return events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type)
}
const blockOf = async (run_id: string): Promise<Record<string, unknown>> => {
  const request = { httpMethod: 'GET', path: '/', headers: {}, body: null, isBase64Encoded: false }
  const event = { ...request, pathParameters: { run_id, block_id: 'a' }, queryStringParameters: null }
  return JSON.parse(((await place.place.invoke('get-block', event)) as { body: string }).body)
}
const told = (events: readonly RunEvent[]) => of(events, 'block:output')[0]?.data
const passed = (code: string) => ({
  provider: 'own',
  model: 'm-2',
  passed_over: [{ provider: 'big', model: 'g-1', code }],
  note: `in place of big g-1 (${code})`,
})

describe('a candidate that does not answer is passed over within the attempt', () => {
  test('because it is away', async () => {
    big.next(json(503, {}))
    const { id, events } = await run()
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(of(events, 'block:started')).toHaveLength(1)
    expect(told(events)).toMatchObject(passed('provider_unavailable'))
    const keys = [...big.asked, ...own.asked].map(({ headers }) => headers['idempotency-key']?.split('/').slice(-2))
    expect(keys).toEqual([
      ['1', '0'],
      ['1', '0.1'],
    ])
    const attempts = (await blockOf(id)).attempts as readonly object[]
    const { passed_over, provider } = passed('provider_unavailable')
    expect(attempts).toMatchObject([{ provider, passed_over, calls: [{ provider, model: 'm-2' }] }])
  })

  test.each([
    [429, 'provider_throttled'],
    [403, 'provider_refused'],
  ])('because it answers %i', async (status, code) => {
    big.next(json(status, {}))
    expect(told((await run()).events)).toMatchObject(passed(code))
  })

  test('because its time is over, and what it may have used is counted beside the answer', async () => {
    big.next(hang)
    const { events } = await run(
      { provider: 'late', model_params: { max_tokens: 50 } },
      {},
      { budget: { tokens: 10_000 } },
    )
    expect(told(events)).toMatchObject({
      provider: 'own',
      passed_over: [{ provider: 'late', code: 'provider_timeout' }],
    })
    // One token of the prompt, fifty of the answer it was allowed; the answer itself is 30.
    expect(of(events, 'block:completed')[0]?.data.spent).toMatchObject({ tokens_in: 1, tokens_out: 50 })
    const { tokens, usd_micros } = foldRun(events)
    const { tokens_in = 0, tokens_out = 0 } = told(events) ?? {}
    expect({ tokens, usd_micros }).toEqual({
      tokens: 51 + tokens_in + tokens_out,
      usd_micros: 51 + tokens_in + tokens_out,
    })
  })

  test('because it is left alone after failures: it is not asked again', async () => {
    for (const _ of [1, 2]) big.next(json(503, {}))
    await run()
    await run()
    const { events } = await run()
    expect(told(events)).toMatchObject(passed('provider_unavailable'))
    expect(big.asked).toHaveLength(2)
  })

  test('because its estimate does not fit: a cheaper one is asked, and nothing of the refusal stays', async () => {
    const { events } = await run({ model_params: { max_tokens: 100 } }, {}, { budget: { usd: 0.01 } })
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(told(events)).toMatchObject(passed('budget_exceeded'))
    expect(big.asked).toEqual([])
    expect(of(events, 'budget:exceeded')).toEqual([])
    expect(of(events, 'budget:reserved')).toHaveLength(1)
  })
})

describe('what is nobody else’s to answer fails as without a fallback', () => {
  test('a wrong answer of the server', async () => {
    big.next(json(200, { choices: 3 }))
    const { events } = await run()
    expect(of(events, 'block:failed')[0]?.data.code).toBe('provider_invalid')
    expect(own.asked).toEqual([])
  })

  test('a stop of the run', async () => {
    big.next(hang)
    const id = await place.start({ blocks: [block({})] })
    await expect.poll(() => big.asked.length).toBe(1)
    await place.call('stop-run', id, {})
    expect((await place.ended(id)).at(-1)?.type).toBe('run:cancelled')
    expect(own.asked).toEqual([])
  })
})

describe('nobody answers', () => {
  test('and one of them may be back: the block is tried again, from the first on', async () => {
    big.next(json(403, {}))
    own.next(json(503, {}))
    const { events } = await run({}, { retry: { max_attempts: 2, backoff: 'none', delay_ms: 1 } })
    expect(of(events, 'block:retrying')[0]?.data).toMatchObject({
      code: 'provider_unavailable',
      reason: expect.stringContaining('Nobody else answered either: big g-1: provider_refused.'),
    })
    expect(told(events)).toMatchObject({ provider: 'big' })
    expect(told(events)).not.toHaveProperty('passed_over')
  })

  test('and a cap was in the way: that is told, so that a person can raise it', async () => {
    own.next(json(403, {}))
    const { events } = await run({ model_params: { max_tokens: 100 } }, {}, { budget: { usd: 0.01 } })
    expect(of(events, 'block:failed')[0]?.data.code).toBe('budget_exceeded')
    expect(of(events, 'budget:exceeded')).toMatchObject([{ data: { of: 'run_usd_micros', cap: 10_000 } }])
  })
})

describe('one who answered in place of another', () => {
  const OBJECT = { outputs: { plan: 'string', days: 'number' } }

  test('is asked for the repair of its answer', async () => {
    big.next(json(503, {}))
    const { events } = await run({}, { ...OBJECT, contract_repair_attempts: 1 })
    expect(of(events, 'block:failed')[0]?.data.code).toBe('output_contract')
    expect([big.asked.length, own.asked.length]).toEqual([1, 2])
  })

  test('is asked with parameters of its own, or those of the agent', async () => {
    for (const _ of [1, 2]) big.next(json(503, {}))
    await run({ model_params: { seed: 7 } })
    await run({ model_params: { seed: 7 }, fallback: [{ provider: 'own', model: 'm-2', model_params: { seed: 8 } }] })
    expect(own.asked.map(({ body }) => body.options)).toEqual([{ seed: 7 }, { seed: 8 }])
  })

  test('is who a replay of the run answers as', async () => {
    big.next(json(503, {}))
    const { id, events } = await run()
    const { json: recorded } = (await place.call('record-run', id)) as { json: { ref?: string } }
    const record = { type: 'replay', record: recorded.ref }
    const again = await openTestPlace({}, { providers: { big: record, own: record } })
    const body = await place.place.world.objects.get('main', String(recorded.ref))
    await again.place.world.objects.put('main', body)
    const replayed = await again.ended(await again.start({ blocks: [block({})] }))
    await again.close()
    expect(told(replayed)).toMatchObject({
      outputs: told(events)?.outputs,
      ...passed('provider_refused'),
      note: expect.stringContaining(`replayed from run ${id}`),
    })
  })

  test('waits for its place there, and holds none elsewhere meanwhile', async () => {
    const fallback = [{ provider: 'few', model: 'm-2' }]
    for (const _ of [1, 2, 3]) big.next(json(403, {}))
    const blocks = ['a', 'b', 'c'].map((id) => block({ fallback }, { id }))
    const events = await place.ended(await place.start({ blocks }))
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(of(events, 'block:output').map(({ data }) => data.provider)).toEqual(['few', 'few', 'few'])
    expect(await place.place.world.runs.leases({ tenant: 'main', name: 'provider/few' })).toEqual({})
  })
})
