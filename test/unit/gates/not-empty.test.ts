import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

describe.each(['not_empty', 'port_not_empty'])('%s', (type) => {
  const check = { type, port: 'plan' }

  test.each([['x'], [0], [false], [[0]], [{ a: null }], ['👩‍💻']])('passes for %j', async (plan) => {
    expect(await judged(check, factsOf({ plan }))).toMatchObject({ passed: true, type })
  })

  test.each([[''], [' \n\t'], ['\u200b\u2060\ufeff'], [[]], [{}]])('fails for %j', async (plan) => {
    expect((await judged(check, factsOf({ plan }))).reason).toMatch(/^port plan must not be empty, is /)
  })

  test('a missing port is named', async () => {
    expect((await judged(check, factsOf({}))).reason).toBe('missing port plan')
  })

  test('refuses other parameters', () => {
    expect(refusals({ ...check, min: 1 })).toHaveLength(1)
    expect(refusals({ type })).toHaveLength(1)
  })

  test('whatever passes is still there when one thing is put before it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.string(), async (value, text) => {
        const list = [value as Json]
        expect((await judged(check, factsOf({ plan: list }))).passed).toBe(true)
        expect((await judged(check, factsOf({ plan: `x${text.toWellFormed()}` }))).passed).toBe(true)
      }),
    )
  })
})
