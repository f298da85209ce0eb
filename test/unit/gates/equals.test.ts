import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = (value: Json, more = {}) => ({ type: 'equals', port: 'state', value, ...more })

describe('equals', () => {
  test.each<[Json, Json]>([
    ['done', 'done'],
    [1, 1],
    [0.1, 0.1],
    [false, false],
    [
      { a: 1, b: [1, 2] },
      { b: [1, 2], a: 1 },
    ],
  ])('passes for %j and %j', async (value, state) => {
    expect((await judged(check(value), factsOf({ state }))).passed).toBe(true)
  })

  test.each<[Json, Json]>([
    ['done', 'Done'],
    ['1', 1],
    [1, true],
    [
      [1, 2],
      [2, 1],
    ],
    ['é', 'e\u0301'],
    ['a', 'a '],
  ])('fails for wanted %j and seen %j', async (value, state) => {
    const verdict = await judged(check(value), factsOf({ state }))
    expect(verdict).toMatchObject({ status: 'failed', reason: expect.stringMatching(/^must equal .+, is /) })
  })

  test('case_sensitive: false compares letters whatever their case', async () => {
    expect((await judged(check('DONE', { case_sensitive: false }), factsOf({ state: 'done' }))).passed).toBe(true)
  })

  test('fails on a missing port and on null', async () => {
    expect((await judged(check('x'), factsOf({}))).reason).toBe('missing port state')
    expect((await judged(check('x'), factsOf({ state: null }))).passed).toBe(false)
  })

  test.each([[null], [undefined]])('refuses value %j at parse: nothing could equal it', (value) => {
    expect(refusals({ type: 'equals', port: 'state', value })).toHaveLength(1)
  })

  test('every value equals its copy, and no other JSON text', async () => {
    // A key __proto__ is refused at every door, of documents and of bodies.
    const value = fc.jsonValue().filter((given) => given !== null && !JSON.stringify(given).includes('__proto__'))
    await fc.assert(
      fc.asyncProperty(value, value, async (a, b) => {
        const [x, y] = [a as Json, b as Json]
        expect((await judged(check(x), factsOf({ state: structuredClone(x) }))).passed).toBe(true)
        const same = (await judged(check(x), factsOf({ state: y }))).passed
        expect(same).toBe((await judged(check(y), factsOf({ state: x }))).passed)
      }),
      { numRuns: 50 },
    )
  })
})
