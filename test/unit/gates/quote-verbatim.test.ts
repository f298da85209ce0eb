import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const check = (more = {}) => ({ type: 'quote_verbatim', port: 'quotes', evidence: 'sources', ...more })
const SOURCES = [
  { id: 'bridge', text: 'The bridge is not safe for heavy lorries.', score: 1 },
  { id: 'council', text: 'The council rebuilt it in 1931 with new steel.' },
]
const judge = (quotes: Json, sources: Json = SOURCES, more = {}) => judged(check(more), factsOf({ quotes, sources }))

describe('quote_verbatim', () => {
  test('passes for quotes as they stand, with the place of the first', async () => {
    const verdict = await judge([{ quote: 'not safe for heavy lorries', source_id: 'bridge' }, 'rebuilt it in 1931'])
    expect(verdict.passed).toBe(true)
    expect(verdict.facts).toMatchObject({ found: 2, source_id: 'bridge', start: 14, end: 40 })
  })

  test('a text is cited by its place, a source named by a number too', async () => {
    expect((await judge([{ quote: 'safe for heavy lorries', source_id: 1 }], ['safe for heavy lorries'])).passed).toBe(
      true,
    )
    expect((await judge(['safe for heavy lorries'], 'It is safe for heavy lorries')).passed).toBe(true)
  })

  test.each([
    ['The bridge is safe for heavy lorries.', undefined, /quote 1 "The bridge is safe .* put together of 2 parts$/],
    ['rebuilt it in 1931 with', 'bridge', /stands in source "council" instead$/],
    ['safe for heavy lorries with new steel.', undefined, /is put together of 2 parts$/],
    ['rebuilt it in 1932 with', 'council', /stands in no source$/],
    [
      'safe for heavy lorries.',
      'bridge',
      /stands in source "bridge" right behind what denies it, or without its condition$/,
    ],
  ])('fails for %j', async (quote, source_id, reason) => {
    const verdict = await judge([source_id === undefined ? quote : { quote, source_id }])
    expect(verdict).toMatchObject({ status: 'failed', reason: expect.stringMatching(reason) })
  })

  test('quotes under 12 characters do not count, and enough must', async () => {
    expect((await judge(['it is', 'not safe for heavy lorries'])).passed).toBe(true)
    expect((await judge(['steel'])).reason).toBe('must have at least 1 quotes of 12 characters or more, has 0')
    expect((await judge([], SOURCES, { min: 0 })).passed).toBe(true)
    expect((await judge(['not safe for heavy lorries'], SOURCES, { min: 2 })).passed).toBe(false)
  })

  test.each<[Json, Json]>([
    ['not safe for heavy lorries', SOURCES],
    [[7], SOURCES],
    [[{ text: 'not safe for heavy' }], SOURCES],
    [[{ quote: 'not safe for heavy', source_id: ['bridge'] }], SOURCES],
    [['not safe for heavy'], []],
    [['not safe for heavy'], [{ id: '', text: 'a' }]],
    [['not safe for heavy'], [['not safe for heavy']]],
    [['not safe for heavy'], JSON.parse('[{"__proto__": {"id": "a", "text": "not safe for heavy"}}]')],
    [['not safe for heavy'], { bridge: 'not safe for heavy' }],
  ])('judges nothing of %j and %j', async (quotes, sources) => {
    expect((await judge(quotes, sources)).status).toBe('failed')
    expect((await judge(quotes, sources, { not: true })).status).toBe('failed')
  })

  test('bounds what it reads', async () => {
    expect((await judge(['x'.repeat(10_000_000)])).status).toBe('failed')
    expect((await judge(['not safe for heavy'], ['x'.repeat(10_000_000)])).reason).toMatch(/at most 2097152 bytes/)
    expect((await judge(new Array(501).fill('not safe for heavy'))).reason).toMatch(/at most 500 quotes/)
    const words = ['a '.repeat(1_000_000)]
    expect((await judge(new Array(100).fill('not safe for heavy'), words)).reason).toMatch(/at most 20000000 words/)
  })

  test.each([[{ min: -1 }], [{ evidence: '' }], [{ fuzzy: true }]])('refuses %j at parse', (more) => {
    expect(refusals(check(more))).not.toEqual([])
  })

  test('a list passes exactly when each of its quotes does', async () => {
    const quote = fc.constantFrom(
      'not safe for heavy lorries',
      'rebuilt it in 1931',
      'is safe for heavy',
      'rebuilt it in 1913',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(quote, { minLength: 1, maxLength: 4 }), async (quotes) => {
        const alone = await Promise.all(quotes.map((one) => judge([one])))
        expect((await judge(quotes)).passed).toBe(alone.every(({ passed }) => passed))
      }),
      { numRuns: 30 },
    )
  })

  test('twice the evidence costs twice', async () => {
    await expectLinear((size) => judge(['heavy lorries heavy bridge'], ['heavy lorries '.repeat(size)]), 20_000)
  })
})
