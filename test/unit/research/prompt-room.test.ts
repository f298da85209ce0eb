import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { candidatesForPrompt, evidenceForPrompt, promptTokenBudget } from '../../../shared/research/prompt-budget.ts'
import { ATLAS, NORWAY } from './atlas.ts'

const SYSTEM = 400

describe('promptRoom()', () => {
  test('a default budget leaves room for a route, an assessment and an answer', () => {
    const max_tokens = 1_024
    let left = 4_000
    for (const stage of ['route_search', 'assess_sufficiency'] as const) {
      const { data, answer_tokens, keep } = promptTokenBudget(stage, SYSTEM, { cap: 4_000, left, max_tokens })
      expect(SYSTEM + data + answer_tokens + keep).toBeLessThanOrEqual(left)
      expect(data).toBeGreaterThanOrEqual(200)
      left -= SYSTEM + data + 60
    }
    const { data, answer_tokens } = promptTokenBudget('synthesize_answer', SYSTEM, { cap: 4_000, left, max_tokens })
    expect(SYSTEM + data + answer_tokens).toBeLessThanOrEqual(left)
    expect(data).toBeGreaterThanOrEqual(400)
  })

  test('of a large budget an answer takes half, so that it can be asked for once more', () => {
    const { data, answer_tokens } = promptTokenBudget('synthesize_answer', SYSTEM, {
      cap: 10_000,
      left: 9_000,
      max_tokens: 1_024,
    })
    expect(answer_tokens).toBe(1_024)
    expect(2 * (SYSTEM + data + answer_tokens)).toBeLessThanOrEqual(9_000)
    expect(promptTokenBudget('synthesize_answer', SYSTEM, { cap: 1e9, left: 1e9, max_tokens: 1_024 }).data).toBe(8_000)
  })

  test('is never negative, and never above what the settings allow an answer', () => {
    const stages = fc.constantFrom('route_search', 'assess_sufficiency', 'synthesize_answer')
    const amount = fc.nat({ max: 100_000 })
    const law = fc.property(
      stages,
      amount,
      amount,
      fc.integer({ min: 64, max: 5_000 }),
      (stage, cap, left, max_tokens) => {
        const { data, answer_tokens, keep } = promptTokenBudget(stage, SYSTEM, { cap, left, max_tokens })
        expect(Math.min(data, answer_tokens)).toBeGreaterThan(0)
        expect(keep).toBeGreaterThanOrEqual(0)
        expect(answer_tokens).toBeLessThanOrEqual(max_tokens)
      },
    )
    fc.assert(law, { numRuns: 50 })
  })
})

describe('evidenceForPrompt()', () => {
  test('shows name, facts and text of the best items, in rank order', () => {
    const [first, second] = evidenceForPrompt([NORWAY, ...ATLAS], 2_000)
    expect(first?.text).toBe(
      'Norway\nNorway, capital: Oslo\nNorway, borders: Sweden, Finland\nNorway, currency: Norwegian krone\nNorway, area: 323802\nNorway is a country in Northern Europe. Its parliament is the Storting. Oil was found in 1969.',
    )
    expect(second?.text).toMatch(/^Lima\n/)
  })

  test('the passage that was found stands before the body it is from', () => {
    const text = `${'Nothing here. '.repeat(500)}The treaty was signed in Bergen.`
    const [shown] = evidenceForPrompt(
      [{ entity_id: 'a.b.c.d.e.f', text, snippet_text: 'The treaty was signed in Bergen.' }],
      100,
    )
    expect(shown?.text).toMatch(/^a\.b\.c\.d\.e\.f\nThe treaty was signed in Bergen\.\n/)
  })

  test('takes no more room than there is, but for one item at its shortest', () => {
    const item = fc.record({ entity_id: fc.constant('a.b.c.d.e.f'), text: fc.string({ maxLength: 3_000 }) })
    const law = fc.property(fc.array(item, { maxLength: 12 }), fc.integer({ min: 50, max: 3_000 }), (items, tokens) => {
      const shown = evidenceForPrompt(items, tokens)
      const size = shown.reduce((sum, { text }) => sum + JSON.stringify(text).length, 0)
      if (shown.length > 1) expect(size).toBeLessThanOrEqual(tokens * 4)
      expect(shown.length > 0).toBe(items.length > 0)
    })
    fc.assert(law, { numRuns: 50 })
  })
})

describe('candidatesForPrompt()', () => {
  const candidates = Array.from({ length: 20 }, (_, at) => ({
    entity_id: `a.b.c.d.e.f${at}`,
    label: `Item ${at}`,
    tier: '1',
    source: 'bm25_index',
    snippet_text: 'word '.repeat(100),
  }))

  test('cuts previews first, then the list from its end, never its order', () => {
    const small = candidatesForPrompt(candidates, 400) as readonly (typeof candidates)[number][]
    expect(small.map(({ entity_id }) => entity_id)).toEqual(
      candidates.slice(0, small.length).map((one) => one.entity_id),
    )
    expect(small.length).toBeGreaterThan(5)
    expect(JSON.stringify(small).length).toBeLessThanOrEqual(1_700)
    expect(candidatesForPrompt(candidates, 100_000)).toEqual(candidates)
  })
})
