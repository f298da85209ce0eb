import { afterEach, describe, expect, test } from 'vitest'
import type { Provider } from '../../../shared/providers/provider.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { child, childOf, deployDocument, headOf } from '../child-place.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** A child run works on what its parent reserves for it, and gives back at its end what it did not use. */
let place: TestPlace
afterEach(() => place.close())

const paid: Provider = {
  dispatch: async ({ model }) => ({ text: 'done', tokens_in: 100, tokens_out: 50, model, finish_reason: 'stop' }),
}
const hanging: Provider = { dispatch: () => new Promise(() => {}) }
const agent = { provider: 'paid', model: 'm', prompt: 'x'.repeat(400), model_params: { max_tokens: 200 } }
const block = (id: string, more: object = {}) => ({ id, outputs: { text: 'string' }, agent, ...more })
const open = async (provider: Provider = paid) => {
  place = await openTestPlace({ providers: { paid: provider } })
}

async function balanced(runId: string) {
  const events = await place.ended(runId)
  const { tokens } = foldRun(events)
  expect((await headOf(place, runId)).budget).toMatchObject({ committed_tokens: tokens, spent_tokens: tokens })
  return events
}

describe('a child run', () => {
  test('has the smaller of its own caps and what is left of its parent, which gets back the rest', async () => {
    await open()
    deployDocument(place, 'inner', [block('one'), block('two')], { budget: { tokens: 700 } })
    const id = await place.start({
      budget: { tokens: 1_000 },
      blocks: [child('a', 'inner'), block('z', { inputs: { text: { from: 'a.text' } } })],
    })
    const events = await balanced(id)
    expect(
      events.filter(({ type }) => type === 'budget:reserved').map(({ block_id, data }) => [block_id, data]),
    ).toEqual([
      ['a', { tokens: 700, usd_micros: 0 }],
      ['z', { tokens: 300, usd_micros: 0 }],
    ])
    expect(events.at(-1)?.data).toMatchObject({ code: 'completed', spent: { tokens: 450 } })
    const inner = await balanced(await childOf(place, id, 'a'))
    expect(inner[0]?.data).toMatchObject({ caps: { cap_tokens: 700 } })
  })

  test('that needs more than is left fails in words, and its parent with it', async () => {
    await open()
    deployDocument(place, 'inner', [block('one'), block('two', { inputs: { text: { from: 'one.text' } } })])
    const id = await place.start({
      budget: { tokens: 1_000 },
      blocks: [child('a', 'inner', { budget: { tokens: 400 } })],
    })
    const events = await balanced(id)
    expect((await balanced(await childOf(place, id, 'a'))).at(-1)?.data).toMatchObject({ code: 'budget_exceeded' })
    expect(events.at(-1)?.data).toMatchObject({
      spent: { tokens: 150 },
      reason: expect.stringContaining('the run has 400 tokens'),
    })
  })

  test('is not opened when nothing is left', async () => {
    const greedy = { text: 'done', tokens_in: 100, tokens_out: 250, model: 'm', finish_reason: 'stop' }
    await open({ dispatch: async () => greedy })
    deployDocument(place, 'inner', [block('one')])
    const blocks = [block('first'), child('a', 'inner', { depends: 'first.succeeded' })]
    const events = await balanced(await place.start({ budget: { tokens: 300 }, blocks }))
    const failed = events.find(({ type }) => type === 'block:failed')
    expect(failed?.data).toMatchObject({
      code: 'budget_exceeded',
      reason: expect.stringContaining('Cannot open a child run for block "a"'),
    })
    expect(events.some(({ type, data }) => type === 'block:started' && 'child' in data)).toBe(false)
  })

  test('of a block that is stopped alone is stopped too, and counts with what it had reserved', async () => {
    await open(hanging)
    deployDocument(place, 'inner', [block('one')])
    const id = await place.start({
      budget: { tokens: 1_000 },
      blocks: [
        child('a', 'inner'),
        block('b', {
          mode: 'deterministic',
          deterministic: { handler: 'pass' },
          agent: undefined,
          inputs: { text: { type: 'string', default: 'x' } },
        }),
      ],
    })
    const inner = await childOf(place, id, 'a')
    await place.until(inner, ({ type }) => type === 'budget:reserved')
    expect((await place.call('stop-run', id, { block_id: 'a' })).status).toBe(200)
    const events = await balanced(id)
    expect(events.at(-1)?.data).toMatchObject({ code: 'block_cancelled', block_id: 'a', spent: { tokens: 300 } })
    expect((await place.ended(inner)).at(-1)).toMatchObject({ type: 'run:cancelled', data: { code: 'parent_ended' } })
  })
})
