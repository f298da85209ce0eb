import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = (keys: Json) => ({ type: 'keys_present', port: 'row', keys })

describe('keys_present', () => {
  test.each<[Json]>([
    [{ id: 0, name: '' }],
    [
      [
        { id: 1, name: 'a' },
        { id: false, name: [] },
      ],
    ],
  ])('passes for %j', async (row) => {
    expect((await judged(check(['id', 'name']), factsOf({ row }))).passed).toBe(true)
  })

  test('fails and names the keys and the item', async () => {
    expect((await judged(check(['id', 'name']), factsOf({ row: { id: 1 } }))).reason).toBe('must have the keys "name"')
    const { reason } = await judged(check(['id']), factsOf({ row: [{ id: 1 }, { id: null }] }))
    expect(reason).toBe('must have the keys "id" in item 1')
  })

  test.each<[Json]>([[[]], [['id']], ['id'], [[[{ id: 1 }]]]])('fails for %j', async (row) => {
    expect((await judged(check(['id']), factsOf({ row }))).passed).toBe(false)
  })

  test.each([['constructor'], ['toString'], ['__proto__'], ['length']])('an inherited %s is no key', async (key) => {
    expect((await judged(check([key]), factsOf({ row: {} }))).passed).toBe(false)
  })

  test.each<[Json]>([[[]], [['']], ['id'], [[1]]])('refuses keys %j at parse', (keys) => {
    expect(refusals(check(keys))).toHaveLength(1)
  })

  test('an object has all keys it was made with', async () => {
    const made = fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), fc.integer(), { minKeys: 1, maxKeys: 4 })
    await fc.assert(
      fc.asyncProperty(made, async (row) => {
        expect((await judged(check(Object.keys(row)), factsOf({ row }))).passed).toBe(true)
        expect((await judged(check([...Object.keys(row), 'no such key']), factsOf({ row }))).passed).toBe(false)
      }),
      { numRuns: 50 },
    )
  })
})
