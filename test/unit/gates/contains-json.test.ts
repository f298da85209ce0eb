import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const check = (more: object = {}) => ({ type: 'contains_json', port: 'answer', ...more })
const schema = { type: 'object', required: ['id'] }

describe('contains_json', () => {
  test.each([['{"id":1}'], ['Sure:\n```json\n[1, 2]\n```\nDone.'], ['a } b ] {"x": "}"} c'], ['{no} {"id": 1}']])(
    'passes for %j',
    async (answer) => {
      expect((await judged(check(), factsOf({ answer }))).passed).toBe(true)
    },
  )

  test('finds it behind more links, lists and code than anybody writes', async () => {
    const links = '- [x] see [the table](table.csv), {name} and array[i] of (0, 1]; '
    expect((await judged(check(), factsOf({ answer: `${links.repeat(1_000)}\n{"id": 1}` }))).passed).toBe(true)
  })

  test.each([
    ['open lists', (size: number) => '['.repeat(size)],
    ['one string of escaped quotes', (size: number) => `["${'\\"'.repeat(size)}`],
    ['lists in lists', (size: number) => '["a",'.repeat(size)],
    ['half objects', (size: number) => '{"'.repeat(size)],
    ['spaces', (size: number) => '[ '.repeat(size)],
    ['a list of almost lists', (size: number) => `[${'[1]x'.repeat(size)}]`],
    ['depth', (size: number) => `${'[1'.repeat(size)}${']'.repeat(size)}`],
  ])('answers %s, up to 100,000 times, in linear time', async (_, answer) => {
    await expectLinear((size) => judged(check(), factsOf({ answer: answer(size) })), 50_000)
  })

  test.each([[''], ['no'], ['{"id": 1'], ['"text"'], ['7'], ['{id: 1}'], ['{'.repeat(1_000)]])(
    'fails for %j',
    async (answer) => {
      const verdict = await judged(check(), factsOf({ answer }))
      expect(verdict).toMatchObject({ status: 'failed', reason: 'must contain a JSON object or list' })
    },
  )

  test('the first one must be valid under the schema', async () => {
    expect((await judged(check({ schema }), factsOf({ answer: 'so {"id": 1}' }))).passed).toBe(true)
    const { reason } = await judged(check({ schema }), factsOf({ answer: 'so {"no": 1} {"id": 1}' }))
    expect(reason).toMatch(/^must be valid under its schema/)
  })

  test.each([[{ id: 1 }], [[1]], [7]])('fails for %j, which is no text', async (answer) => {
    expect((await judged(check(), factsOf({ answer }))).reason).toMatch(/^port answer must be text/)
  })

  test.each([[{ schema: { type: 'nothing' } }], [{ schema: { $ref: 'https://example.com/s' } }], [{ schema: 'x' }]])(
    'refuses %j at parse',
    (more) => {
      expect(refusals(check(more)).length).toBeGreaterThan(0)
    },
  )

  test('an object or list is found between words without brackets', async () => {
    const words = fc.string({ unit: fc.constantFrom('a', '"', '\\', ' ', '\n', 'é'), maxLength: 8 })
    const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()))
    await fc.assert(
      fc.asyncProperty(words, value, words, async (before, given, after) => {
        const answer = `${before}${JSON.stringify(given)}${after}`
        if (!answer.isWellFormed()) return
        expect((await judged(check(), factsOf({ answer }))).passed).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})
