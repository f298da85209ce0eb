import { afterEach, describe, expect, test } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import type { DispatchAnswer, Provider } from '../../../shared/providers/provider.ts'
import type { EventType, RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { startOpenai } from '../../emulators/openai-server.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** Budgets on the local place: what a call may use is reserved before it is made, and settled by what it did use. */
const places: TestPlace[] = []
afterEach(async () => {
  for (const place of places.splice(0)) await place.close()
})

/** 2.5 and 10 dollars a million tokens. */
const PRICED = { paid: { type: 'openai-compatible', url: 'https://api.openai.com/v1' } }
const answers = (make: (prompt: string) => Partial<DispatchAnswer> | Promise<Partial<DispatchAnswer>>): Provider => ({
  dispatch: async ({ prompt, model }) => ({
    text: 'done',
    tokens_in: 100,
    tokens_out: 50,
    model,
    finish_reason: 'stop',
    ...(await make(prompt)),
  }),
})

async function open(paid: Provider, safety: object = {}): Promise<TestPlace> {
  const place = await openTestPlace({ providers: { paid } }, { providers: PRICED, safety })
  places.push(place)
  return place
}

const block = (id: string, more: object = {}) => ({
  id,
  outputs: { text: 'string' },
  agent: { provider: 'paid', model: 'gpt-4o', prompt: 'x'.repeat(400), model_params: { max_tokens: 200 } },
  ...more,
})
const behind = (id: string, from: string, more: object = {}) =>
  block(id, { inputs: { text: { from: `${from}.text` } }, ...more })
const all = <T extends EventType>(events: readonly RunEvent[], type: T) =>
  events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type)
const ledgerOf = async (place: TestPlace, run_id: string) =>
  (await place.place.world.runs.head({ tenant: 'main', run_id }))?.budget

/** HEAD.spent is the fold's, and at rest nothing is committed but what was spent. */
async function balanced(place: TestPlace, runId: string): Promise<readonly RunEvent[]> {
  const events = await place.ended(runId)
  const { tokens, usd_micros = 0 } = foldRun(events)
  const { committed_tokens, committed_usd_micros, spent_tokens, spent_usd_micros } =
    (await ledgerOf(place, runId)) ?? {}
  expect({ spent_tokens, spent_usd_micros }).toEqual({ spent_tokens: tokens, spent_usd_micros: usd_micros })
  expect({ committed_tokens, committed_usd_micros }).toEqual({
    committed_tokens: tokens,
    committed_usd_micros: usd_micros,
  })
  return events
}

describe('a provider that calls no model', () => {
  test.each(['local', 'tools'])('uses and reserves nothing: %s runs under any cap', async (provider) => {
    const place = await openTestPlace({}, { providers: { tools: { type: 'local' } }, safety: { max_block_tokens: 1 } })
    places.push(place)
    const agent = { provider, model: 'outline', prompt: 'Plan a garden' }
    const blocks = [{ id: 'a', outputs: { text: 'string' }, agent }]
    const id = await place.start({ budget: { tokens: 10, usd: 0.000001 }, blocks })
    const events = await balanced(place, id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(all(events, 'block:output')).toMatchObject([{ data: { tokens_in: 0, tokens_out: 0, usd_micros: 0 } }])
    expect(all(events, 'budget:reserved')).toEqual([])
  })
})

describe('a run without caps', () => {
  test('reserves nothing, and counts what it spends', async () => {
    const place = await open(answers(() => ({ usd: 0.001 })))
    const events = await balanced(place, await place.start({ blocks: [block('a'), behind('b', 'a')] }))
    expect(all(events, 'budget:reserved')).toEqual([])
    expect(events.at(-1)?.data).toMatchObject({ spent: { tokens: 300, usd_micros: 2_000 } })
  })
})

describe('a cap of the run', () => {
  test('is reserved before each call and settled after it', async () => {
    const place = await open(answers(() => ({ usd: 0.00075 })))
    const budget = { tokens: 1_000, usd: 1 }
    const id = await place.start({ budget, blocks: [block('a'), behind('b', 'a')] })
    const events = await balanced(place, id)
    expect(events[0]?.data).toMatchObject({ caps: { cap_tokens: 1_000, cap_usd_micros: 1_000_000 } })
    expect(all(events, 'budget:reserved').map(({ block_id, attempt, data }) => [block_id, attempt, data])).toEqual([
      ['a', 1, { tokens: 300, usd_micros: 2_250 }],
      ['b', 1, { tokens: 300, usd_micros: 2_250 }],
    ])
    expect(await ledgerOf(place, id)).toMatchObject({ cap_tokens: 1_000, spent_tokens: 300, spent_usd_micros: 1_500 })
    expect((await place.call('get-run', id)).json).toMatchObject({
      run: { budget: { cap_tokens: 1_000, cap_usd: 1, spent_tokens: 300, spent_usd: 0.0015, committed_tokens: 300 } },
    })
  })

  test('refuses the call that does not fit, for good and in words', async () => {
    let calls = 0
    const place = await open(
      answers(() => {
        calls += 1
        return {}
      }),
    )
    const retry = { max_attempts: 5 }
    const blocks = [block('a'), behind('b', 'a', { retry }), behind('c', 'b')]
    const events = await balanced(place, await place.start({ budget: { tokens: 400 }, blocks }))
    expect(calls).toBe(1)
    expect(all(events, 'budget:exceeded').map(({ block_id, data }) => [block_id, data])).toEqual([
      ['b', { of: 'run_tokens', cap: 400, wanted: 300 }],
    ])
    expect(all(events, 'block:failed')[0]?.data).toEqual({
      code: 'budget_exceeded',
      reason:
        'Cannot ask provider "paid" for block "b": it may use 300 tokens, and the run has 400 tokens: 150 tokens are spent, 0 tokens reserved. Raise budget.tokens of the document or max_run_tokens of the safety policy, or lower max_tokens in model_params.',
    })
    expect(all(events, 'block:skipped').map(({ block_id }) => block_id)).toEqual(['c'])
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'budget_exceeded' } })
  })

  test('that has room again when it is asked which one was in the way refuses nothing', async () => {
    const first = Promise.withResolvers<Partial<DispatchAnswer>>()
    let calls = 0
    const place = await open(
      answers(() => {
        calls += 1
        return calls === 1 ? first.promise : {}
      }),
    )
    const { runs } = place.place.world
    const append: typeof runs.append = async (given) => {
      const done = await runs.append(given)
      if (!done.ok && done.because === 'budget') {
        first.resolve({})
        await place.until(given.run.run_id, ({ type }) => type === 'block:completed')
      }
      return done
    }
    Object.assign(place.place.world, { runs: { ...runs, append } })
    const id = await place.start({ budget: { tokens: 460 }, blocks: [block('a'), block('b')] })
    const events = await balanced(place, id)
    expect(all(events, 'budget:exceeded')).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'run:completed', data: { spent: { tokens: 300 } } })
  })

  test('counts in full what a call used beyond its estimate, and refuses the next', async () => {
    const place = await open(answers(() => ({ tokens_in: 5_000 })))
    const events = await balanced(
      place,
      await place.start({ budget: { tokens: 1_000 }, blocks: [block('a'), behind('b', 'a')] }),
    )
    expect(all(events, 'budget:exceeded')[0]?.data).toEqual({ of: 'run_tokens', cap: 1_000, wanted: 300 })
    expect(events.at(-1)?.data).toMatchObject({ spent: { tokens: 5_050 } })
  })

  test('is not lowered by a provider that counts nonsense', async () => {
    const nonsense: Partial<DispatchAnswer>[] = [
      { tokens_in: -1_000_000, tokens_out: Number.NaN, usd: -5 },
      { tokens_in: Number.POSITIVE_INFINITY, tokens_out: 0.4, usd: Number.NaN },
      { tokens_in: 1e300, tokens_out: -0, usd: Number.POSITIVE_INFINITY },
    ]
    for (const told of nonsense) {
      const place = await open(answers(() => told))
      const events = await balanced(
        place,
        await place.start({ budget: { tokens: 1_000, usd: 1 }, blocks: [block('a')] }),
      )
      expect(events.at(-1)?.type).toBe('run:completed')
    }
  })

  test('in dollars asks for a known price before anything is sent, and makes one of tokens nobody priced', async () => {
    let calls = 0
    const place = await open(
      answers(() => {
        calls += 1
        return {}
      }),
    )
    const unknown = block('a', { agent: { provider: 'paid', model: 'nobody-knows', prompt: 'x' } })
    const refused = await balanced(place, await place.start({ budget: { usd: 1 }, blocks: [unknown] }))
    expect(calls).toBe(0)
    expect(all(refused, 'block:failed')[0]?.data).toMatchObject({ code: 'budget_price_unknown' })
    const { json } = await place.call('validate-dag', '', { dag: { budget: { usd: 1 }, blocks: [unknown] } })
    expect(json).toMatchObject({ valid: true, warnings: [{ code: 'budget_price_unknown', path: 'blocks[0].agent' }] })
    const known = await balanced(place, await place.start({ budget: { usd: 1 }, blocks: [block('a')] }))
    expect(all(known, 'block:output')[0]?.data).toMatchObject({ usd_micros: 750 })
  })

  test('in dollars holds behind a gateway whose price the settings say, and stops the run there', async () => {
    const gateway = await startOpenai(() => 'done')
    const place = await openTestPlace(
      {},
      {
        providers: { gw: { type: 'openai-compatible', url: `${gateway.url}/v1` } },
        prices: { 'gw/router': { input: 1_000, output: 2_000 } },
      },
    )
    places.push(place)
    const asking = (max_tokens: number, model = 'router') => ({
      agent: { provider: 'gw', model, prompt: 'x'.repeat(400), model_params: { max_tokens } },
    })
    const dag = { budget: { usd: 1 }, blocks: [block('a', asking(200)), behind('b', 'a', asking(500))] }
    const events = await balanced(place, await place.start(dag))
    // 21 tokens in, 9 out; the second may use 1.1 dollars, and 0.961 are left.
    expect(all(events, 'block:output').map(({ data }) => data.usd_micros)).toEqual([39_000])
    expect(all(events, 'block:failed')[0]).toMatchObject({ block_id: 'b', data: { code: 'budget_exceeded' } })
    expect(gateway.asked).toHaveLength(1)
    const valid = await place.call('validate-dag', '', { dag })
    expect(valid.json).toMatchObject({ valid: true, warnings: [] })
    const unset = { budget: { usd: 1 }, blocks: [block('a', asking(200, 'another'))] }
    const { json } = await place.call('validate-dag', '', { dag: unset })
    expect(json).toMatchObject({ warnings: [{ code: 'budget_price_unknown' }] })
    await gateway.close()
  })

  test('of the safety policy holds where it is the smaller one', async () => {
    const place = await open(
      answers(() => ({})),
      { max_run_tokens: 200, max_run_usd: 2 },
    )
    const events = await balanced(place, await place.start({ budget: { tokens: 5_000, usd: 3 }, blocks: [block('a')] }))
    expect(events[0]?.data).toMatchObject({ caps: { cap_tokens: 200, cap_usd_micros: 2_000_000 } })
    expect(all(events, 'budget:exceeded')[0]?.data).toEqual({ of: 'run_tokens', cap: 200, wanted: 300 })
  })

  test('counts a lost attempt with its estimate', async () => {
    let hang = true
    const asked = Promise.withResolvers<void>()
    const hung = () => {
      asked.resolve()
      return new Promise<never>(() => {})
    }
    const place = await open(answers(() => (hang ? hung() : {})))
    const id = await place.start({ budget: { tokens: 1_000 }, blocks: [block('a')] })
    await asked.promise
    hang = false
    await place.kill()
    const events = await balanced(place, id)
    expect(all(events, 'block:retrying')[0]?.data).toMatchObject({
      code: 'ATTEMPT_LOST',
      spent: { tokens_in: 300, tokens_out: 0, usd_micros: 2_250 },
    })
    expect(events.at(-1)?.data).toMatchObject({ spent: { tokens: 450 } })
  })

  test('counts a call that timed out with its estimate, and one that was refused not at all', async () => {
    const retry = { max_attempts: 2, delay_ms: 1, backoff: 'none' }
    const faults = [
      new Fault('Unavailable', 'provider_timeout', 'Nothing was said.'),
      new Fault('Unavailable', 'provider_throttled', 'Later.'),
    ]
    for (const [i, spent] of [450, 150].entries()) {
      let calls = 0
      const place = await open(
        answers(() => {
          calls += 1
          if (calls === 1) throw faults[i]
          return {}
        }),
      )
      const id = await place.start({ budget: { tokens: 1_000 }, blocks: [block('a', { retry })] })
      expect((await balanced(place, id)).at(-1)?.data).toMatchObject({ spent: { tokens: spent } })
    }
  })
})

describe('a cap of a block', () => {
  test('counts every repair, attempt and pass of it', async () => {
    const place = await open(answers(() => ({ tokens_out: 200 })))
    const failing = block('a', {
      budget: { tokens: 1_000 },
      outputs: { n: 'number' },
      contract_repair_attempts: 1,
      retry: { max_attempts: 5, delay_ms: 1, backoff: 'none' },
    })
    const events = await balanced(place, await place.start({ blocks: [failing, block('b')] }))
    expect(all(events, 'budget:exceeded').map(({ block_id, data }) => [block_id, data])).toEqual([
      ['a', { of: 'block_tokens', cap: 1_000, wanted: expect.any(Number) }],
    ])
    const spent = foldRun(events).blocks.a
    expect((spent?.tokens_in ?? 0) + (spent?.tokens_out ?? 0)).toBe(900)
    expect(foldRun(events).blocks.b?.state).toBe('completed')
  })

  test('is shared by its items, also while they work side by side', async () => {
    const place = await open(answers(() => ({ tokens_in: 100, tokens_out: 200 })))
    const each = block('a', {
      budget: { tokens: 1_000 },
      foreach: { items: [1, 2, 3, 4, 5, 6], as: 'n', max_concurrency: 6, tolerate: 6 },
    })
    const events = await balanced(place, await place.start({ blocks: [each] }))
    expect(all(events, 'block:output').filter(({ item }) => item !== undefined)).toHaveLength(3)
    expect(all(events, 'budget:exceeded')).toHaveLength(3)
  })
})

describe('a judge', () => {
  const judged = (on: 'pre_gates' | 'post_gates', more: object = {}) =>
    block('a', {
      inputs: { topic: { type: 'string', default: 'locks' } },
      [on]: [
        {
          name: 'fair',
          on_fail: 'fail',
          check: {
            type: 'llm_review',
            port: on === 'pre_gates' ? 'topic' : 'text',
            criteria: 'Is it fair?',
            provider: 'paid',
            model: 'gpt-5',
            samples: 3,
          },
        },
      ],
      ...more,
    })
  const yes = (prompt: string) =>
    prompt.includes('Is it fair?') ? { text: '{"pass": true, "rationale": "It is."}' } : {}

  test.each(['pre_gates', 'post_gates'] as const)('in %s is reserved, counted and settled', async (on) => {
    const place = await open(answers(yes))
    for (const more of [{}, { approval: true }]) {
      const id = await place.start({ budget: { tokens: 20_000 }, blocks: [judged(on, more)] })
      if ('approval' in more) {
        const { data } = await place.until(id, ({ type }) => type === 'approval:requested')
        const { approval_id, digest } = data as { approval_id: string; digest: string }
        await place.call('decide-approval', id, { approval_id, digest, decision: 'approve' })
      }
      const events = await balanced(place, id)
      const asked = on === 'pre_gates' && 'approval' in more ? 3 : 2
      expect(events.at(-1)?.data).toMatchObject({ code: 'completed', spent: { tokens: asked * 150 } })
    }
    const free = await balanced(place, await place.start({ blocks: [judged(on)] }))
    expect(all(free, 'block:gate')[0]?.data.spent).toMatchObject({ tokens_in: 100, tokens_out: 50 })
    expect(free.at(-1)?.data).toMatchObject({ spent: { tokens: 300 } })
  })

  test.each(['pre_gates', 'post_gates'] as const)(
    'in %s that may not be asked fails the block for good',
    async (on) => {
      const place = await open(answers(yes))
      const events = await balanced(place, await place.start({ budget: { tokens: 2_000 }, blocks: [judged(on)] }))
      expect(all(events, 'block:failed')[0]?.data).toMatchObject({ code: 'budget_exceeded' })
      expect(all(events, 'budget:exceeded')[0]?.data).toMatchObject({ of: 'run_tokens', cap: 2_000 })
    },
  )
})
