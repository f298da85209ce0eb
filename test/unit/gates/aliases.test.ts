import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

test.each<[string, string, { readonly [key: string]: Json }]>([['port_not_empty', 'not_empty', { port: 'x' }]])(
  '%s keeps its name and gives every verdict of %s',
  async (alias, type, params) => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const facts = factsOf({ x: value as Json })
        const own = await judged({ type, ...params }, facts)
        const other = await judged({ type: alias, ...params }, facts)
        expect(other).toEqual({ ...own, type: alias, input_hash: other.input_hash })
      }),
    )
  },
)

test.each<[string, string, { readonly [key: string]: Json }, string | undefined]>([
  ['port_matches', 'matches', { port: 'x', pattern: '[a-f]{2}' }, undefined],
  ['port_min_length', 'min_length', { port: 'x', min: 3 }, ''],
])('%s gives every verdict of %s, and reads any JSON as its canonical text', async (alias, type, params, empty) => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (json) => {
      const value = json as Json
      const isEmpty = empty !== undefined && ['[]', '{}'].includes(JSON.stringify(value))
      const read = value === null || typeof value === 'string' ? value : isEmpty ? empty : canonicalJson(value)
      const own = await judged({ type, ...params }, factsOf({ x: read }))
      const other = await judged({ type: alias, ...params }, factsOf({ x: value }))
      expect(other).toEqual({ ...own, type: alias, input_hash: other.input_hash })
    }),
  )
})

test.each<[Json, number, boolean]>([
  [{ steps: ['dig', 'sow'] }, 20, true],
  [['https://a.example/1.png'], 20, true],
  [['a'], 20, false],
  [1200, 4, true],
  [true, 5, false],
  [[], 1, false],
  [{}, 1, false],
  [null, 0, false],
])('port_min_length of %j, %i characters: %s', async (x, min, passes) => {
  expect((await judged({ type: 'port_min_length', port: 'x', min }, factsOf({ x }))).passed).toBe(passes)
})

test.each<[Json, string, boolean]>([
  [0, '^0$', true],
  [0.5, '^0\\.5$', true],
  [true, '^true$', true],
  [{ b: 1, a: 2 }, '^\\{"a":2,"b":1\\}$', true],
  [12, '^true$', false],
])('port_matches of %j, %s: %s', async (x, pattern, passes) => {
  expect((await judged({ type: 'port_matches', port: 'x', pattern }, factsOf({ x }))).passed).toBe(passes)
})

test.each([
  ['port_not_empty', {}],
  ['port_matches', { port: 'x', pattern: '(?<=example)' }],
  ['port_min_length', { port: 'x', min: -1 }],
])('%s refuses bad parameters at parse', (type, params) => {
  expect(refusals({ type, ...params })).toHaveLength(1)
})
