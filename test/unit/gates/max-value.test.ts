import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (max: number) => ({ type: 'max_value', port: 'score', max })

describe('max_value', () => {
  test.each([[10], ['10'], [-3], ['-3.5e0'], ['0'], ['1e1']])('passes for %j of at most 10', async (score) => {
    expect((await judged(check(10), factsOf({ score }))).passed).toBe(true)
  })

  test('fails with seen and wanted', async () => {
    expect((await judged(check(10), factsOf({ score: '10.5' }))).reason).toBe('must be at most 10, is 10.5')
  })

  test.each([
    [''],
    [' 1'],
    ['1 '],
    ['+1'],
    ['01'],
    ['0x1'],
    ['1,0'],
    ['.5'],
    ['1.'],
    ['NaN'],
    ['-Infinity'],
    ['1e'],
    ['١'],
  ])('fails for the text %j, which is not exactly a number', async (score) => {
    expect((await judged(check(10), factsOf({ score }))).reason).toMatch(/^port score must be a number, is the text/)
  })

  test.each([[true], [[1]], [{ value: 1 }]])('fails for %j', async (score) => {
    expect((await judged(check(10), factsOf({ score }))).reason).toMatch(/^port score must be a number, is a/)
  })

  test.each([[Number.NaN], [Number.NEGATIVE_INFINITY], ['-1e999']])('never passes for %s', async (score) => {
    expect((await judged(check(10), factsOf({ score }))).passed).toBe(false)
  })

  test.each([['10'], [Number.NaN], [Number.POSITIVE_INFINITY], [null]])('refuses max %j at parse', (max) => {
    expect(refusals({ type: 'max_value', port: 'score', max })).toHaveLength(1)
  })

  test('a number and its JSON text get the same verdict', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), async (score, max) => {
        const asNumber = await judged(check(max), factsOf({ score }))
        const asText = await judged(check(max), factsOf({ score: JSON.stringify(score) }))
        expect([asNumber.passed, asText.passed]).toEqual([score <= max, score <= max])
      }),
    )
  })
})
