import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = { type: 'diff', left: 'a', right: 'b' }

describe('diff', () => {
  test('key order is free, list order is strict', async () => {
    expect((await judged(check, factsOf({ a: { x: 1, y: [1, 2] }, b: { y: [1, 2], x: 1 } }))).passed).toBe(true)
    const verdict = await judged(check, factsOf({ a: [1, 2], b: [2, 1] }))
    expect(verdict).toMatchObject({
      status: 'failed',
      reason: 'ports a and b must be equal, they are [1,2] and [2,1]',
    })
  })

  test('not_equal is the other way round', async () => {
    const differ = { ...check, mode: 'not_equal' }
    expect((await judged(differ, factsOf({ a: 1, b: '1' }))).passed).toBe(true)
    expect((await judged(differ, factsOf({ a: 1, b: 1 }))).reason).toBe('ports a and b must differ, both are 1')
  })

  test.each(['equal', 'not_equal'])('an absent or null side fails with mode %s', async (mode) => {
    expect((await judged({ ...check, mode }, factsOf({ a: 1 }))).reason).toBe('missing port b')
    expect((await judged({ ...check, mode }, factsOf({ a: null, b: null }))).reason).toMatch(/^missing port a/)
    expect((await judged({ ...check, mode }, factsOf({}))).passed).toBe(false)
  })

  test('an input can be compared with an output', async () => {
    expect((await judged(check, factsOf({ b: 'x' }, { inputs: { a: 'x' } }))).passed).toBe(true)
  })

  test.each([[{ type: 'diff', left: 'a' }], [{ ...check, mode: 'same' }], [{ ...check, left: '' }]])(
    'refuses %j at parse',
    (bad) => {
      expect(refusals(bad)).toHaveLength(1)
    },
  )

  test('equal and not_equal never agree on two values', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (left, right) => {
        fc.pre(left !== null && right !== null)
        const facts = factsOf({ a: left as Json, b: right as Json })
        const equal = await judged(check, facts)
        const differ = await judged({ ...check, mode: 'not_equal' }, facts)
        expect(equal.passed).toBe(!differ.passed)
      }),
    )
  })
})
