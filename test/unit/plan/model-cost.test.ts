import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'
import { estimateCall } from '../../../shared/plan/call-estimate.ts'
import { modelCost } from '../../../shared/plan/model-cost.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

const PLACE = SettingsSchema.parse({
  providers: {
    paid: { type: 'openai-compatible', url: 'https://api.openai.com/v1' },
    own: { type: 'openai-compatible', url: 'https://models.example.com/v1' },
  },
  agents: { writer: { role: 'worker', provider: 'paid', model: 'gpt-4o' } },
})

const cost = (blocks: readonly object[], told = {}, place = PLACE) => {
  const parsed = parseDag({ blocks })
  if (!parsed.ok) throw new Error(parsed.errors.map(({ message }) => message).join('\n'))
  const expectations = { durations: {}, default_duration: 1, items: {}, max_parallel: 0, ...told }
  return modelCost(parsed.dag, expectations, place)
}
const block = (id: string, agent: object, more: object = {}) => ({ id, outputs: { text: 'string' }, agent, ...more })
/** 400 characters, 100 tokens. */
const PROMPT = 'x'.repeat(400)

describe('modelCost()', () => {
  test('reckons low, expected and high from prompt, answer, tries and repairs', () => {
    const agent = { provider: 'paid', model: 'gpt-4o', prompt: PROMPT, model_params: { max_tokens: 1_000 } }
    const retry = { max_attempts: 3 }
    const { calls, tokens, usd } = cost([block('a', agent, { retry, inputs: { b: { type: 'string', default: '' } } })])
    expect(calls).toMatchObject([
      { block: 'a', work: 'answer', provider: 'paid', model: 'gpt-4o', calls: { low: 1, expected: 1, high: 6 } },
    ])
    expect(tokens).toEqual({ low: 200, expected: 850, high: 6 * 5_100 })
    // 2.5 and 10 dollars a million.
    expect(usd).toEqual({ low: 0.00125, expected: 0.005875, high: 0.1215 })
  })

  test('counts those who answer in place of another only where all goes badly', () => {
    const fallback = [{ provider: 'paid', model: 'gpt-4o-mini' }]
    const agent = { provider: 'paid', model: 'gpt-4o', prompt: PROMPT, model_params: { max_tokens: 1_000 } }
    const { calls, usd } = cost([block('a', { ...agent, fallback })])
    const alone = cost([block('a', agent)])
    expect(calls.map(({ work, model, calls: n }) => [work, model, n])).toEqual([
      ['answer', 'gpt-4o', { low: 1, expected: 1, high: 2 }],
      ['fallback', 'gpt-4o-mini', { low: 0, expected: 0, high: 2 }],
    ])
    expect([usd.low, usd.expected]).toEqual([alone.usd.low, alone.usd.expected])
    // Twice a hundred tokens in and a thousand out, at 0.15 and 0.6 dollars a million.
    expect(usd.high).toBeCloseTo(alone.usd.high + 2 * 0.000_615, 9)
  })

  test('estimates files of a call before it is made: an image at the most a model looks at, bytes else', () => {
    const file = (media_type: string, size: number) => ({ media_type, bytes: new Uint8Array(size) })
    const tokens = (...files: Parameters<typeof estimateCall>[0]['files'] & object) =>
      estimateCall({ prompt: '', params: {}, files }, undefined).tokens_in
    expect(tokens(file('image/png', 4_000_000))).toBe(3_000)
    expect(tokens(file('image/png', 400))).toBe(100)
    expect(tokens(file('application/pdf', 40_000), file('image/png', 400))).toBe(10_100)
  })

  test('estimates the next turn of an agent with all that was said so far, and the tools it is offered', () => {
    const tokens = (also: Partial<Parameters<typeof estimateCall>[0]>) =>
      estimateCall({ prompt: 'x'.repeat(400), params: {}, ...also }, undefined).tokens_in
    const calls = [{ id: 'c1', tool: 'desk__read', arguments: 'a'.repeat(382) }]
    const said = { role: 'assistant' as const, text: 't'.repeat(400), calls }
    const result = { role: 'tool' as const, id: 'c1', tool: 'desk__read', text: 'r'.repeat(4_000), is_error: false }
    expect(tokens({})).toBe(100)
    // Words, the call with its name and id, and what came of it, each as it is sent.
    expect(tokens({ conversation: [said] })).toBe(Math.ceil((400 + 400 + 2 + 10 + 382) / 4))
    expect(tokens({ conversation: [said, result, { role: 'user', text: 'u'.repeat(40) }] })).toBeGreaterThan(1_300)
    expect(tokens({ conversation: [{ ...said, opaque: { signature: 's'.repeat(4_000) } }] })).toBeGreaterThan(1_290)
    const input_schema = { type: 'object', description: 'd'.repeat(4_000) }
    const offer = { name: 'desk__read', description: 'e'.repeat(400), input_schema }
    expect(tokens({ tools: [offer] })).toBeGreaterThan(1_200)
  })

  test('shows an unknown price as unknown, never as nothing', () => {
    const known = block('a', { role: 'worker', prompt: PROMPT })
    const unknown = block('b', { provider: 'own', model: 'gpt-4o', prompt: PROMPT })
    const { calls, usd, unpriced, tokens } = cost([known, unknown])
    expect(calls.map(({ model, usd: price }) => [model, price === null])).toEqual([
      ['gpt-4o', false],
      ['gpt-4o', true],
    ])
    expect(unpriced).toEqual(['b'])
    expect(usd.expected).toBe(0.00525)
    expect(tokens.expected).toBe(1_200)
  })

  test('counts no tokens where no model is asked, whatever a place calls that provider', () => {
    const providers = { ...PLACE.providers, tools: { type: 'local' as const } }
    for (const provider of ['local', 'tools']) {
      const { calls, tokens, usd } = cost(
        [block('a', { provider, model: 'outline', prompt: PROMPT })],
        {},
        { ...PLACE, providers },
      )
      expect(calls).toMatchObject([{ provider, calls: { expected: 1 }, usd: { high: 0 } }])
      expect([tokens.high, usd.high]).toEqual([0, 0])
    }
  })

  test('counts a chain by its budget, at the price of the model of the place, a chain a try', () => {
    const retry = { max_attempts: 2 }
    const asked = { id: 'q', mode: 'research', research: { topic: 't', budget_tokens: 4_000 }, retry }
    const free = cost([asked])
    expect(free.calls).toMatchObject([{ block: 'q', work: 'research', provider: 'extractive', calls: { high: 2 } }])
    expect(free.tokens).toEqual({ low: 0, expected: 4_000, high: 8_000 })
    expect([free.usd.high, free.unpriced]).toEqual([0, []])
    const paid = cost([asked], {}, { ...PLACE, research: { ...PLACE.research, provider: 'paid', model: 'gpt-4o' } })
    // 3,000 in at 2.5 and 1,000 out at 10 dollars a million.
    expect(paid.usd).toEqual({ low: 0, expected: 0.0175, high: 0.035 })
    const own = cost([asked], {}, { ...PLACE, research: { ...PLACE.research, provider: 'own', model: 'm' } })
    expect(own.unpriced).toEqual(['q'])
  })

  test('counts items, bounces and judges, and local as free', () => {
    const gate = {
      name: 'fair',
      check: { type: 'llm_review', port: 'text', criteria: 'Fair?', provider: 'paid', model: 'gpt-5' },
      on_fail: 'route',
    }
    const judged = block(
      'b',
      { provider: 'local', model: 'outline', prompt: PROMPT },
      {
        inputs: { text: { from: 'a.text', type: 'json' } },
        post_gates: [gate],
        on_gate_fail: [{ when_gate: 'fair', route_to: 'a', max_bounces: 2 }],
      },
    )
    const each = block(
      'a',
      { provider: 'paid', model: 'gpt-4o', prompt: PROMPT },
      {
        foreach: { items: '{{inputs.files}}', as: 'file' },
        inputs: { files: 'json' },
        strict_output: false,
      },
    )
    const { calls } = cost([each, judged], { items: { a: 4 } })
    expect(calls.map(({ block: id, work, calls: n, usd }) => [id, work, n.expected, n.high, usd?.high === 0])).toEqual([
      ['a', 'answer', 4, 12, false],
      ['b', 'answer', 1, 6, true],
      ['b', 'judge fair', 1, 18, false],
    ])
  })
})
