import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = (expected: string) => ({ type: 'port_type', port: 'x', expected })
const REF = `objstore://main/${'0'.repeat(64)}`

describe('port_type', () => {
  test.each<[string, Json]>([
    ['string', 'a'],
    ['number', 0],
    ['boolean', false],
    ['json', 'a'],
    ['json', [1]],
    ['object', {}],
    ['array', []],
    ['file', REF],
    ['artifact', REF],
  ])('%s passes for %j', async (expected, x) => {
    expect((await judged(check(expected), factsOf({ x }))).passed).toBe(true)
  })

  test.each<[string, Json]>([
    ['string', 1],
    ['number', '1'],
    ['number', Number.NaN],
    ['boolean', 'true'],
    ['object', []],
    ['array', {}],
    ['file', '/etc/passwd'],
    ['artifact', {}],
    ['json', null],
  ])('%s fails for %j', async (expected, x) => {
    expect((await judged(check(expected), factsOf({ x }))).passed).toBe(false)
  })

  test('tells wanted and seen', async () => {
    expect((await judged(check('boolean'), factsOf({ x: 'yes' }))).reason).toBe(
      'port x must be of type boolean, is text',
    )
  })

  test.each([['strin'], [''], ['constructor'], [undefined]])('refuses expected %j at parse', (expected) => {
    expect(refusals({ type: 'port_type', port: 'x', expected })).toHaveLength(1)
  })

  test('a value has exactly one of the basic types', async () => {
    const basic = ['string', 'number', 'boolean', 'object', 'array']
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const verdicts = await Promise.all(basic.map((type) => judged(check(type), factsOf({ x: value as Json }))))
        expect(verdicts.filter(({ passed }) => passed)).toHaveLength(value === null ? 0 : 1)
      }),
    )
  })
})
