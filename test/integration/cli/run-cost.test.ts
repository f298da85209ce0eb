import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Provider } from '../../../shared/providers/provider.ts'
import { sluice } from '../../e2e/run-cli.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

let place: TestPlace

/** The second answer has no price; prompts that say so are never answered. */
const paid: Provider = {
  dispatch: ({ prompt, model, signal }) =>
    prompt.includes('wait')
      ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      : Promise.resolve({
          text: prompt.includes('Is it fair?') ? '{"pass": true, "rationale": "It is."}' : 'done',
          tokens_in: 1_200,
          tokens_out: 50,
          ...(prompt.includes('unpriced') ? {} : { usd: 0.0021 }),
          model,
          finish_reason: 'stop',
        }),
}

beforeAll(async () => {
  place = await openTestPlace({ listen: true, providers: { paid } }, { port: 0 })
})
afterAll(() => place.close())

async function cli(...args: readonly string[]) {
  const { code, out, err } = await sluice([...args, '--url', place.place.url ?? ''])
  return { said: out, warned: err, status: code }
}

const block = (id: string, prompt: string, more: object = {}) => ({
  id,
  outputs: { text: 'string' },
  agent: { provider: 'paid', model: 'm-1', prompt },
  ...more,
})
const fair = {
  name: 'fair',
  check: { type: 'llm_review', port: 'text', criteria: 'Is it fair?', provider: 'paid', model: 'm-2' },
}

describe('sluice run cost', () => {
  test('tells each call by block, attempt and model, the totals, and what is used of the budget', async () => {
    const blocks = [block('draft', 'Go', { post_gates: [fair] }), block('free', 'unpriced')]
    const id = await place.start({ name: 'costs', budget: { tokens: 50_000 }, blocks })
    await place.ended(id)
    const { said, status } = await cli('run', 'cost', id)
    expect(status).toBe(0)
    const lines = said.trimEnd().split('\n')
    expect(lines[0]).toBe('costs  completed')
    expect(lines[1]).toMatch(/^block +try +work +by +in +out +usd$/)
    expect(lines.filter((line) => /^(draft|free|total)/.test(line)).map((line) => line.split(/ {2,}/))).toEqual(
      expect.arrayContaining([
        ['draft', '1', 'answer', 'paid/m-1', '1,200', '50', '$0.0021'],
        ['draft', '1', 'judge fair', 'paid/m-2', '1,200', '50', '$0.0021'],
        ['free', '1', 'answer', 'paid/m-1', '1,200', '50', 'unknown'],
        ['total', '3,600', '150', '$0.0042 and 1 unknown'],
      ]),
    )
    expect(lines.at(-2)).toBe('Budget tokens: 3,750 of 50,000 spent, 0 reserved')
    expect(lines.at(-1)).toMatch(/^Stored: \d,\d{3} of 268,435,456 bytes$/)
    const { said: json } = await cli('run', 'cost', id, '--json')
    expect(JSON.parse(json)).toMatchObject({
      run_id: id,
      totals: { tokens_in: 3_600, tokens_out: 150, usd: 0.0042, unpriced_rows: 1 },
      budget: { cap_tokens: 50_000, spent_tokens: 3_750 },
    })
  })

  test('says so when nothing was called, and refuses a run nobody knows', async () => {
    const pass = { id: 'a', mode: 'deterministic', deterministic: { handler: 'pass' }, outputs: {} }
    const id = await place.start({ blocks: [pass] })
    await place.ended(id)
    const { said } = await cli('run', 'cost', id)
    expect(said).toContain('No call of a model was recorded.\nNo budget: the run has no cap.')
    expect(await cli('run', 'cost', 'run_0123456789abcdefghjkmnpqrs')).toMatchObject({ status: 1 })
  })
})

describe('sluice run stop --block', () => {
  test('stops the block alone and says what becomes of the run', async () => {
    const id = await place.start({ blocks: [block('a', 'wait'), block('b', 'Go')] })
    await place.until(id, ({ type, block_id }) => type === 'block:started' && block_id === 'a')
    const { said, status } = await cli('run', 'stop', id, '--block', 'a', '--reason', 'enough')
    expect([status, said]).toEqual([0, 'Cancelled block a. The run goes on, and ends failed.\n'])
    expect((await place.ended(id)).at(-1)?.data).toMatchObject({ code: 'block_cancelled', block_id: 'a' })
    expect((await cli('run', 'events', id)).said).toMatch(/a: cancelled: stopped by user:.+: enough/)
    expect(await cli('run', 'stop', id, '--block', 'a')).toMatchObject({
      status: 1,
      warned: expect.stringContaining('run_ended'),
    })
  })
})
