import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Isolate } from '../../../shared/ports/isolate.ts'
import { inProcessIsolate } from './in-process-isolate.ts'
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

describe('valid_json of a large text', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

  test.each([
    ['64 levels', nested(64), true],
    ['brackets in a string', `["${'['.repeat(100)}\\"${'{'.repeat(100)}"]`, true],
  ])('takes %s', async (_, answer, passed) => {
    expect(await judged(check, factsOf({ answer }))).toMatchObject({ passed })
  })

  test.each([
    ['65 levels', nested(65)],
    ['a million levels', '['.repeat(1_000_000)],
  ])('fails %s in words, negated too, and parses nothing', async (_, answer) => {
    for (const not of [false, true]) {
      const verdict = await judged({ ...check, not }, factsOf({ answer }))
      expect(verdict).toMatchObject({ passed: false, reason: expect.stringContaining('at most 64 levels') })
    }
  })

  test('is parsed in the isolate above 1 MiB, and an error when that cannot', async () => {
    const asked: string[] = []
    const isolate: Isolate = {
      run: async (kind, job) => {
        asked.push(kind)
        return asked.length === 1
          ? inProcessIsolate.run(kind, job)
          : { ok: false, because: 'time', message: 'it ran longer than 5000 ms' }
      },
    }
    const answer = `["${'é'.repeat(600_000)}"]`
    expect(await judged(check, factsOf({ answer }), {}, { isolate })).toMatchObject({ passed: true })
    const late = await judged(check, factsOf({ answer }), {}, { isolate })
    expect(late).toMatchObject({ passed: false, status: 'error', reason: expect.stringContaining('ran longer') })
    expect(asked).toEqual(['parse', 'parse'])
    await judged(check, factsOf({ answer: '[1]' }), {}, { isolate })
    expect(asked).toHaveLength(2)
  })
})
