import { afterEach, describe, expect, test } from 'vitest'
import type { DispatchAnswer, Provider } from '../../shared/provider.ts'
import type { EventType, RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

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
    const place = await open(answers(() => ((calls += 1), {})))
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
})
