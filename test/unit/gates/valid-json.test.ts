import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = { type: 'valid_json', port: 'answer' }

describe('valid_json', () => {
  test.each([['{}'], ['[1, 2]'], ['"text"'], ['null'], [' {"a": 1}\n'], [{}], [[]]])(
    'passes for %j',
    async (answer) => {
      expect((await judged(check, factsOf({ answer }))).passed).toBe(true)
    },
  )

  test.each([[''], ['{'], ["{'a': 1}"], ['{"a": 1,}'], ['```json\n{}\n```'], ['NaN']])(
    'fails for the text %j',
    async (answer) => {
      expect((await judged(check, factsOf({ answer }))).reason).toMatch(/^must be valid JSON: /)
    },
  )

  test.each([[1], [true]])('fails for %j, which is neither text nor a structure', async (answer) => {
    expect((await judged(check, factsOf({ answer }))).reason).toMatch(
      /^port answer must be JSON text, an object or a list/,
    )
  })

  test('survives a text nested a hundred thousand deep', async () => {
    const deep = '['.repeat(100_000)
    expect((await judged(check, factsOf({ answer: deep }))).status).toBe('failed')
  })

  test('refuses parameters it does not have', () => {
    expect(refusals({ ...check, schema: {} })).toEqual([expect.stringContaining('Unknown parameter "schema"')])
  })

  test('passes for the text of every JSON value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (answer) => {
        expect((await judged(check, factsOf({ answer }))).passed).toBe(true)
      }),
    )
  })
})
