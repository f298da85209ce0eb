import { describe, expect, test } from 'vitest'
import { extractiveProvider } from '../../../functions/providers/extractive.ts'
import { createProviders } from '../../../functions/providers/registry.ts'
import { modelPriceAt } from '../../../shared/providers/model-prices.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import type { Json } from '../../../shared/text/json.ts'

const ask = (inputs: Readonly<Record<string, Json>>, signal = new AbortController().signal) =>
  extractiveProvider.dispatch({
    system: 's'.repeat(40),
    prompt: 'p'.repeat(400),
    model: 'extractive',
    params: {},
    inputs,
    output_schema: {},
    feedback: [],
    signal,
    idempotency_key: 'k',
  })
const facts = [{ predicate: 'geo.capital', object: 'Oslo' }]
const evidence = [{ entity_id: 'a.b.c.d.country.no', label: 'Norway', facts }]

describe('provider extractive', () => {
  test('answers the question of a stage as JSON, says that it is no model, and counts four characters a token', async () => {
    const answer = await ask({ stage: 'synthesize_answer', topic: 'capital of Norway', evidence })
    expect(JSON.parse(answer.text).synthesis).toMatch(/^Norway, capital: Oslo \[1\]\./)
    expect(answer).toMatchObject({
      tokens_in: 110,
      tokens_out: Math.ceil(answer.text.length / 4),
      usd: 0,
      model: 'extractive',
      finish_reason: 'extractive',
      note: expect.stringContaining('not a language model'),
    })
    expect(await ask({ stage: 'synthesize_answer', topic: 'capital of Norway', evidence })).toEqual(answer)
  })

  test.each<[string, Readonly<Record<string, Json>>]>([
    ['no stage', { topic: 'x' }],
    ['a stage that asks no model', { stage: 'execute_subqueries' }],
    ['a question without its evidence', { stage: 'assess_sufficiency', topic: 'x' }],
  ])('%s is refused', async (_what, inputs) => {
    await expect(ask(inputs)).rejects.toMatchObject({ name: 'InvalidInput', code: 'provider_invalid' })
  })

  test('starts nothing that was aborted', async () => {
    await expect(ask({ stage: 'route_search' }, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  })

  test('exists in every place, costs nothing, and a binding of its name replaces it', () => {
    expect(createProviders(SettingsSchema.parse({})).get('extractive')).toBe(extractiveProvider)
    expect(modelPriceAt({ providers: {} }, 'extractive', 'extractive')).toMatchObject({ usd_per_million_in: 0 })
    const bound = createProviders(SettingsSchema.parse({ providers: { extractive: { type: 'local' } } }))
    expect(bound.get('extractive')).not.toBe(extractiveProvider)
  })
})
