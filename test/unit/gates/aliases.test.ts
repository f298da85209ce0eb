import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, type Json } from '../../../shared/canonical.ts'
import { factsOf, judged, refusals } from './judged.ts'

test.each<[string, string, { readonly [key: string]: Json }]>([
  ['port_not_empty', 'not_empty', { port: 'x' }],
  ['port_min_length', 'min_length', { port: 'x', min: 3 }],
])('%s keeps its name and gives every verdict of %s', async (alias, type, params) => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const facts = factsOf({ x: value as Json })
      const own = await judged({ type, ...params }, facts)
      const other = await judged({ type: alias, ...params }, facts)
      expect(other).toEqual({ ...own, type: alias, input_hash: other.input_hash })
    }),
  )
})

test('port_matches gives every verdict of matches, and reads a list or an object as its canonical JSON text', async () => {
  const params = { port: 'x', pattern: '[a-f]{2}' }
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (json) => {
      const value = json as Json
      const read = typeof value === 'object' && value !== null ? canonicalJson(value) : value
      const own = await judged({ type: 'matches', ...params }, factsOf({ x: read }))
      const other = await judged({ type: 'port_matches', ...params }, factsOf({ x: value }))
      expect(other).toEqual({ ...own, type: 'port_matches', input_hash: other.input_hash })
    }),
  )
})

test.each([
  ['port_not_empty', {}],
  ['port_matches', { port: 'x', pattern: '(?<=example)' }],
  ['port_min_length', { port: 'x', min: -1 }],
])('%s refuses bad parameters at parse', (type, params) => {
  expect(refusals({ type, ...params })).toHaveLength(1)
})
