import { afterEach, expect, test } from 'vitest'
import type { ShownSpendingCap } from '../../../shared/api/spending-routes.ts'
import { Fault } from '../../../shared/errors.ts'
import type { DispatchAnswer, Provider } from '../../../shared/providers/provider.ts'
import type { SpendingCap } from '../../../shared/spending/settings.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** Caps of a day or a month on the local place: what calls of models used, over all runs. */
const places: TestPlace[] = []
afterEach(async () => {
  for (const place of places.splice(0)) await place.close()
})

/** 2.5 and 10 dollars a million tokens. */
const PRICED = { paid: { type: 'openai-compatible', url: 'https://api.openai.com/v1' } }

function paid(make: (asked: number) => Partial<DispatchAnswer> = () => ({})) {
  const asked: string[] = []
  const provider: Provider = {
    async dispatch({ prompt, model }) {
      asked.push(prompt)
      return { text: 'done', tokens_in: 100, tokens_out: 50, model, finish_reason: 'stop', ...make(asked.length) }
    },
  }
  return { provider, asked }
}

async function open(provider: Provider, spending: readonly Partial<SpendingCap>[], more: object = {}) {
  const place = await openTestPlace({ providers: { paid: provider } }, { providers: PRICED, spending, ...more })
  places.push(place)
  return place
}

/** It may use 100 tokens of prompt and 200 of answer, 2,250 millionths of a dollar; and uses 150. */
const block = (id: string, model = 'gpt-4o') => ({
  id,
  outputs: { text: 'string' },
  retry: { max_attempts: 3, backoff: 'none', delay_ms: 0 },
  agent: { provider: 'paid', model, prompt: 'x'.repeat(400), model_params: { max_tokens: 200 } },
})
const dag = (name: string, ...blocks: readonly object[]) => ({ name, blocks })

async function caps(place: TestPlace): Promise<readonly ShownSpendingCap[]> {
  const { json } = await place.call('get-spending', '', null)
  return json.caps ?? []
}

async function refusal(started: Promise<string>): Promise<Record<string, unknown>> {
  try {
    await started
  } catch (error) {
    if (error instanceof Error) return JSON.parse(error.message)
  }
  throw new Error('it was started')
}

test('a call is counted as it was used, and a start over the cap is refused with when it opens again, until it is raised', async () => {
  const { provider, asked } = paid()
  const place = await open(provider, [{ name: 'daily', per: 'day', tokens: 300 }])
  await place.ended(await place.start(dag('one', block('a'))))
  expect(await caps(place)).toMatchObject([
    { name: 'daily', reached: false, tokens: { cap: 300, spent: 150, committed: 150, left: 150 } },
  ])
  // It would fit by what it used, and does not by what it may use.
  const events = await place.ended(await place.start(dag('two', block('b'))))
  expect(events.at(-1)?.type).toBe('run:failed')
  expect(asked).toHaveLength(1)
  const raise = { cap: 'daily', tokens: 150, reason: 'one more' }
  const raised = await place.call('raise-spending', '', raise)
  expect(raised.json.cap).toMatchObject({
    tokens: { raised: 150, left: 300 },
    raises: [{ tokens: 150, reason: 'one more' }],
  })
  const again = await place.ended(await place.start(dag('two', block('b'))))
  expect(again.at(-1)?.type).toBe('run:completed')
  await place.call('raise-spending', '', { ...raise, tokens: 1 })
  const nearly = await place.ended(await place.start(dag('three', block('c'))))
  expect(nearly.at(-1)?.type).toBe('run:failed')
})

test('a cap that is used up refuses starts: what it counts, and when it opens', async () => {
  const { provider, asked } = paid(() => ({ tokens_in: 900, tokens_out: 0 }))
  const place = await open(provider, [{ name: 'of-this', per: 'month', tokens: 400, dag: 'dear' }])
  await place.ended(await place.start(dag('dear', block('a'))))
  const problem = await refusal(place.start(dag('dear', block('a'))))
  expect(problem).toMatchObject({ status: 429, code: 'spending_reached', facts: { cap: 'of-this' } })
  expect(problem.detail).toMatch(
    /^Cannot start: 900 tokens of the 400 tokens a month that the spending cap "of-this" allows are used or reserved\. It opens again at \d{4}-\d\d-01T00:00:00\.000Z; /,
  )
  // Other documents are none of its business.
  const other = await place.ended(await place.start(dag('cheap', block('a'))))
  expect(other.at(-1)?.type).toBe('run:completed')
  expect(asked).toHaveLength(2)
  expect(await caps(place)).toMatchObject([{ reached: true, dag: 'dear' }])
})

test('a call that does not fit is not made, its block fails at once, and nothing stays reserved in any cap', async () => {
  const { provider, asked } = paid()
  const place = await open(provider, [
    { name: 'wide', per: 'month', tokens: 100_000 },
    { name: 'narrow', per: 'day', usd: 0.002 },
  ])
  const events = await place.ended(await place.start(dag('one', block('a'))))
  const failed = events.find(({ type }) => type === 'block:failed')
  expect(failed).toMatchObject({ attempt: 1, data: { code: 'spending_reached' } })
  expect(asked).toEqual([])
  expect(await caps(place)).toMatchObject([{ tokens: { committed: 0 } }, { usd: { committed: 0 } }])
})

test('four fifths of a cap are told once, as an event of the run that came over them', async () => {
  const { provider } = paid(() => ({ tokens_in: 150, tokens_out: 50 }))
  const place = await open(provider, [{ name: 'daily', per: 'day', tokens: 1_000 }])
  const told: object[] = []
  for (let run = 0; run < 4; run += 1) {
    const events = await place.ended(await place.start(dag(`run-${run}`, block('a'))))
    told.push(...events.filter(({ type }) => type === 'spending:near').map(({ data }) => data))
  }
  expect(told).toMatchObject([{ cap: 'daily', tokens: 900, cap_tokens: 1_000 }])
})

test('a cap in dollars asks for a known price', async () => {
  const { provider, asked } = paid()
  const place = await open(provider, [{ name: 'daily', per: 'day', usd: 5 }])
  const events = await place.ended(await place.start(dag('one', block('a', 'nobody-knows'))))
  expect(events.find(({ type }) => type === 'block:failed')?.data).toMatchObject({ code: 'spending_price_unknown' })
  expect(asked).toEqual([])
})

test('a call that failed before it was made counts nothing, one given up in the middle its estimate', async () => {
  let answer = new Fault('Unavailable', 'provider_unavailable', 'not there')
  const provider: Provider = { dispatch: () => Promise.reject(answer) }
  const place = await open(provider, [{ name: 'daily', per: 'day', tokens: 10_000 }])
  await place.ended(await place.start(dag('one', block('a'))))
  expect(await caps(place)).toMatchObject([{ tokens: { committed: 0 } }])
  answer = new Fault('Unavailable', 'provider_timeout', 'too slow')
  await place.ended(await place.start(dag('two', { ...block('a'), retry: { max_attempts: 1 } })))
  expect(await caps(place)).toMatchObject([{ tokens: { committed: 300, spent: 300 } }])
})

test('of many blocks at once no more is spent than the cap allows, and the counts outlive the place', async () => {
  const { provider, asked } = paid(() => ({ tokens_in: 100, tokens_out: 200 }))
  const place = await open(provider, [{ name: 'daily', per: 'day', tokens: 1_500 }])
  const blocks = Array.from({ length: 12 }, (_, n) => block(`b${n}`))
  await place.ended(await place.start(dag('many', ...blocks)))
  expect(asked).toHaveLength(5)
  await place.reopen()
  expect(await caps(place)).toMatchObject([{ reached: true, tokens: { committed: 1_500 } }])
})

test('what nobody can raise is said: another name, another unit, too little', async () => {
  const { provider } = paid()
  const place = await open(provider, [{ name: 'daily', per: 'day', tokens: 10 }])
  const raise = (body: object) => place.call('raise-spending', '', { reason: 'x', ...body })
  expect((await raise({ cap: 'dayly', tokens: 1 })).json).toMatchObject({ code: 'unknown_spending_cap' })
  expect((await raise({ cap: 'daily', usd: 1 })).json).toMatchObject({ code: 'spending_unit' })
  expect((await raise({ cap: 'daily' })).status).toBe(400)
  expect((await raise({ cap: 'daily', tokens: -1 })).status).toBe(400)
  expect((await caps(place))[0]?.raises).toEqual([])
})

test('of a cap over several tenants nobody sees what others used, nor raises it; that of another tenant is not there', async () => {
  const { provider } = paid()
  const spending = [
    { name: 'all', per: 'day', tokens: 1_000 },
    { name: 'theirs', per: 'day', tokens: 1_000, tenant: 'acme' },
    { name: 'mine', per: 'day', tokens: 1_000, tenant: 'main' },
  ] as const
  const place = await open(provider, spending, { tenants: ['main', 'acme'] })
  await place.ended(await place.start(dag('one', block('a'))))
  const shown = await caps(place)
  expect(shown).toMatchObject([
    { name: 'all', raises: [] },
    { name: 'mine', tokens: { spent: 150 } },
  ])
  expect(shown[0]).not.toHaveProperty('tokens')
  const refused = await place.call('raise-spending', '', { cap: 'all', tokens: 5, reason: 'x' })
  expect(refused.json).toMatchObject({ code: 'spending_cap_shared' })
  const unknown = await place.call('raise-spending', '', { cap: 'theirs', tokens: 5, reason: 'x' })
  expect(unknown.json).toMatchObject({ code: 'unknown_spending_cap', detail: expect.not.stringContaining('acme') })
})

test('a judge that may not be asked is no verdict: its block fails for the cap, whatever its gate makes of it', async () => {
  const { provider, asked } = paid()
  const place = await open(provider, [{ name: 'daily', per: 'day', tokens: 400 }])
  const check = { type: 'llm_review', port: 'text', criteria: 'Fair?', provider: 'paid', model: 'gpt-5' }
  const judged = (on_fail: string) => ({ ...block('a'), post_gates: [{ name: 'fair', on_fail, check }] })
  for (const on_fail of ['retry', 'warn']) {
    const events = await place.ended(await place.start(dag(`judged-${on_fail}`, judged(on_fail))))
    expect(events.find(({ type }) => type === 'block:failed')).toMatchObject({
      attempt: 1,
      data: { code: 'spending_reached' },
    })
    await place.call('raise-spending', '', { cap: 'daily', tokens: 150, reason: 'the next' })
  }
  expect(asked).toHaveLength(2)
})

test('of a cap over several tenants no event and no refusal tells amounts, nor who may raise it', async () => {
  const { provider } = paid((asked) => ({ tokens_in: asked === 3 ? 400 : 150, tokens_out: 50 }))
  const place = await open(provider, [{ name: 'all', per: 'day', tokens: 777 }], { tenants: ['main', 'acme'] })
  const said: object[] = []
  for (let run = 0; run < 3; run += 1) {
    const events = await place.ended(await place.start(dag(`run-${run}`, block('a'), block('b'))))
    said.push(...events.filter(({ type }) => /^(?:spending:near|block:failed)$/.test(type)).map(({ data }) => data))
    if (said.length > 1) break
  }
  said.push(await refusal(place.start(dag('late', block('a')))))
  const text = JSON.stringify(said)
  expect(said).toMatchObject([{ cap: 'all' }, { code: 'spending_reached' }, { code: 'spending_reached' }])
  expect(Object.keys(said[0] ?? {})).toEqual(['cap', 'period'])
  expect(text).not.toMatch(/\b(?:777|[24-9]00|850|1000)\b/)
  expect(text).not.toContain('spending raise')
})

test('a call that comes over four fifths by what it used is told as well: starts after it are refused', async () => {
  const { provider } = paid(() => ({ tokens_in: 900, tokens_out: 0 }))
  const place = await open(provider, [{ name: 'daily', per: 'day', tokens: 1_000 }])
  const events = await place.ended(await place.start(dag('one', block('a'))))
  expect(events.filter(({ type }) => type === 'spending:near')).toMatchObject([
    { data: { cap: 'daily', tokens: 900, cap_tokens: 1_000 } },
  ])
})

test('a call is made although nobody could be told, and leaves nothing reserved', async () => {
  const { provider, asked } = paid()
  const place = await open(provider, [{ name: 'daily', per: 'day', tokens: 310 }])
  const { runs } = place.place.world
  const append = runs.append.bind(runs)
  runs.append = (write) =>
    write.lane === 'spending' ? Promise.reject(new Fault('Unavailable', 'store_busy', 'away')) : append(write)
  const events = await place.ended(await place.start(dag('one', block('a'))))
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(asked).toHaveLength(1)
  expect(await caps(place)).toMatchObject([{ tokens: { committed: 150 } }])
})

test('nobody answers, and a cap was in the way of one: that is told, so that a person can raise it', async () => {
  const refusing: Provider = {
    dispatch: () => Promise.reject(new Fault('Rejected', 'provider_refused', 'it does not want to')),
  }
  const { provider } = paid()
  const place = await openTestPlace(
    { providers: { paid: provider, other: refusing } },
    {
      providers: { ...PRICED, other: PRICED.paid },
      spending: [{ name: 'daily', per: 'day', tokens: 299 }],
    },
  )
  places.push(place)
  const { agent, ...more } = block('a')
  const fallback = [{ provider: 'other', model: 'gpt-4o', model_params: { max_tokens: 10 } }]
  const events = await place.ended(await place.start(dag('one', { ...more, agent: { ...agent, fallback } })))
  expect(events.find(({ type }) => type === 'block:failed')?.data).toMatchObject({ code: 'spending_reached' })
})

test('a key that raised a cap raises it once, and with another body is refused', async () => {
  const { provider } = paid()
  const place = await open(provider, [{ name: 'daily', per: 'day', tokens: 10 }])
  const raise = async (body: object) => {
    const request = {
      httpMethod: 'POST',
      path: '/',
      pathParameters: null,
      queryStringParameters: null,
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
      body: JSON.stringify({ cap: 'daily', reason: 'more', ...body }),
      isBase64Encoded: false,
    }
    const answer = await place.place.invoke('raise-spending', request)
    return answer as { readonly statusCode: number; readonly body: string }
  }
  expect((await raise({ tokens: 5 })).statusCode).toBe(200)
  expect((await raise({ tokens: 5 })).statusCode).toBe(200)
  const other = await raise({ tokens: 500 })
  expect([other.statusCode, JSON.parse(other.body).code]).toEqual([422, 'idempotency_key_reused'])
  expect(await caps(place)).toMatchObject([{ tokens: { raised: 5 } }])
})

test('a cap of labels counts the runs that were started with them, by the start or by the document, and no others', async () => {
  const { provider, asked } = paid(() => ({ tokens_in: 250 }))
  const labels = { team: 'growth' }
  const place = await open(provider, [{ name: 'growth', per: 'day', tokens: 600, labels }])
  await place.ended(await place.start(dag('other', block('a')), { labels: { team: 'sales' } }))
  await place.ended(await place.start(dag('one', block('a')), { labels: { ...labels, stage: 'prod' } }))
  const used = async () => (await caps(place))[0]?.tokens?.spent
  expect(await used()).toBe(300)
  await place.ended(await place.start({ ...dag('two', block('a')), labels }))
  expect(await used()).toBe(600)
  expect(await caps(place)).toMatchObject([{ name: 'growth', labels, reached: true }])
  expect(await refusal(place.start(dag('three', block('a')), { labels }))).toMatchObject({ code: 'spending_reached' })
  const calls = asked.length
  await place.ended(await place.start(dag('four', block('a')), { labels: { team: 'sales' } }))
  expect(asked).toHaveLength(calls + 1)
  expect(await used()).toBe(600)
})
