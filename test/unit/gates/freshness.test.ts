import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const AT = '2026-03-01T12:00:00.000Z'
const check = (max_age_sec = 3600, more = {}) => ({ type: 'freshness', port: 'time', max_age_sec, ...more })
const judge = (time: Json, max?: number, more = {}) => judged(check(max, more), factsOf({ time }, { at: AT }))

describe('freshness', () => {
  test.each<[Json]>([
    ['2026-03-01T12:00:00Z'],
    ['2026-03-01T11:00:00.000Z'],
    ['2026-03-01T12:30:00+01:00'],
    [['2026-03-01T11:30:00Z', '2026-03-01T11:59:59.999999Z']],
  ])('passes %j', async (time) => {
    expect((await judge(time)).passed).toBe(true)
  })

  test.each<[Json, RegExp]>([
    ['2026-03-01T10:59:59Z', /^must be at most 3600 s old: "2026-03-01T10:59:59Z" is 3601 s old$/],
    ['2026-03-01T12:00:00.001Z', /is in the future$/],
    [['2026-03-01T12:00:00Z', '2025-03-01T12:00:00Z'], /is 31536000 s old$/],
  ])('fails %j', async (time, reason) => {
    expect(await judge(time)).toMatchObject({ status: 'failed', reason: expect.stringMatching(reason) })
    expect((await judge(time, 3600, { not: true })).passed).toBe(true)
  })

  test.each<[Json]>([
    ['2026-03-01'],
    ['2026-03-01T12:00:00'],
    ['2026-02-29T12:00:00Z'],
    ['2026-03-01T24:00:00Z'],
    ['2026-03-01T11:60:00Z'],
    ['March 1, 2026'],
    ['\u202e2026-03-01T12:00:00Z'],
    ['2026-03-01T12:00:00Z\u200b'],
    ['0000-00-00T00:00:00Z'],
    [''],
    [[]],
    [[1_772_366_400]],
    [1_772_366_400],
    [{ at: AT }],
    [['2026-03-01T12:00:00Z', null]],
    ['9'.repeat(10_000_000)],
  ])('judges nothing of what is no time with a zone', async (time) => {
    expect((await judge(time)).status).toBe('failed')
    expect((await judge(time, 3600, { not: true })).status).toBe('failed')
  })

  test('without a clock it is an error, never a pass', async () => {
    expect((await judged(check(), factsOf({ time: AT }))).status).toBe('error')
    expect((await judged(check(), factsOf({ time: AT }, { at: 'now' }))).status).toBe('error')
  })

  test('when it is asked is part of the input hash', async () => {
    const later = await judged(check(), factsOf({ time: AT }, { at: '2026-03-01T12:00:01.000Z' }))
    expect(later.input_hash).not.toBe((await judge(AT)).input_hash)
  })

  test.each([[-1], [0.5], ['1 h']])('refuses max_age_sec %j at parse', (max_age_sec) => {
    expect(refusals({ type: 'freshness', port: 'time', max_age_sec })).toHaveLength(1)
  })

  test('passes exactly for ages from nothing to the most', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -100, max: 100 }), fc.nat(100), async (age, max) => {
        const time = new Date(Date.parse(AT) - age * 1_000).toISOString()
        expect((await judge(time, max)).passed).toBe(age >= 0 && age <= max)
      }),
      { numRuns: 100 },
    )
  })

  test('twice the times cost twice', async () => {
    await expectLinear((size) => judge(new Array(size).fill(AT)), 4_000)
  })
})
