import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = (values: Json, more = {}) => ({ type: 'one_of', port: 'verdict', values, ...more })

describe('one_of', () => {
  test.each<[Json]>([['yes'], [1], [true]])('passes for %j', async (verdict) => {
    expect((await judged(check(['yes', 1, true]), factsOf({ verdict }))).passed).toBe(true)
  })

  test.each<[Json]>([['Yes'], ['1'], [0], [['yes']], ['yes ']])(
    'fails for %j and lists what is allowed',
    async (verdict) => {
      const { reason } = await judged(check(['yes', 1]), factsOf({ verdict }))
      expect(reason).toMatch(/^must be one of "yes", 1, is /)
    },
  )

  test('case_sensitive: false compares letters whatever their case', async () => {
    expect((await judged(check(['YES'], { case_sensitive: false }), factsOf({ verdict: 'yes' }))).passed).toBe(true)
  })

  test.each<[Json]>([[[]], [[null]], [[{}]], ['yes']])('refuses values %j at parse', (values) => {
    expect(refusals(check(values)).length).toBeGreaterThan(0)
  })

  test('it passes exactly when `equals` passes for one of them', async () => {
    const value = fc.constantFrom<Json>('a', 'A', 1, 0, true, false)
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 3 }), value, async (values, verdict) => {
        const each = values.map((wanted) =>
          judged({ type: 'equals', port: 'verdict', value: wanted }, factsOf({ verdict })),
        )
        const some = (await Promise.all(each)).some(({ passed }) => passed)
        expect((await judged(check(values), factsOf({ verdict }))).passed).toBe(some)
      }),
      { numRuns: 50 },
    )
  })
})
