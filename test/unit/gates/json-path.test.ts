import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = (path: string, more: object = {}) => ({ type: 'json_path', port: 'result', path, ...more })
const result = { rows: [{ id: 7, 'odd key': { x: 1 } }], score: 0.5, none: null, text: '7' }

describe('json_path', () => {
  test.each([
    ['rows[0].id', { equals: 7 }],
    ['$.rows[0]["odd key"].x', { equals: 1 }],
    ['["rows"][0].id', { min: 7, max: 7 }],
    ['score', { min: 0.5 }],
    ['rows[0]', { equals: { 'odd key': { x: 1 }, id: 7 } }],
    ['score', {}],
  ])('passes for %s with %j', async (path, more) => {
    expect((await judged(check(path, more), factsOf({ result }))).passed).toBe(true)
  })

  test.each([
    ['rows[1].id', {}, 'port result has no value at rows[1].id'],
    ['none', {}, 'port result has no value at none'],
    ['rows.length', {}, 'port result has no value at rows.length'],
    ['constructor', {}, 'port result has no value at constructor'],
    ['score', { equals: '0.5' }, 'score must be "0.5", is 0.5'],
    ['score', { min: 0.6 }, 'score must be at least 0.6, is 0.5'],
    ['score', { max: 0.4 }, 'score must be at most 0.4, is 0.5'],
    ['text', { min: 1 }, 'text must be a number, is "7"'],
  ])('fails for %s with %j', async (path, more, reason) => {
    expect((await judged(check(path, more), factsOf({ result }))).reason).toBe(reason)
  })

  test.each([[''], ['$'], ['a..b'], ['rows[*]'], ['a b'], ['rows[-1]'], ['["a'], ['a.']])(
    'refuses path %j at parse',
    (path) => {
      expect(refusals(check(path))).toHaveLength(1)
    },
  )

  test('refuses equals together with a bound', () => {
    expect(refusals(check('a', { equals: 1, min: 0 }))).toHaveLength(1)
  })

  test('finds every leaf by the path that leads to it', async () => {
    const leaf = fc.oneof(fc.integer(), fc.string({ maxLength: 3 }), fc.boolean())
    const steps = fc.array(fc.oneof(fc.stringMatching(/^[a-z]{1,4}$/), fc.nat(2)), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(leaf, steps, async (value, path) => {
        const whole = path.reduceRight<Json>((inner, step) => {
          if (typeof step === 'string') return { [step]: inner }
          return Array.from({ length: step + 1 }, (_, at) => (at === step ? inner : 0))
        }, value)
        const written = path.map((step) => (typeof step === 'string' ? `.${step}` : `[${step}]`)).join('')
        expect((await judged(check(`$${written}`, { equals: value }), factsOf({ result: whole }))).passed).toBe(true)
      }),
      { numRuns: 50 },
    )
  })
})
