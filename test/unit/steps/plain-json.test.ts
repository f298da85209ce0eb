import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { problemOfOutputs } from '../../../functions/steps/plain-json.ts'
import { jsonProblem } from '../../../shared/text/strict-json.ts'

const nested = (levels: number) => {
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = [value]
  return value
}
const circle: Record<string, unknown> = {}
circle.a = circle

describe('problemOfOutputs()', () => {
  test.each<[string, object, string | undefined]>([
    ['nothing', {}, undefined],
    ['plain values', { a: 'x', b: [1, null, { c: true }] }, undefined],
    ['a member that is not there', { a: { b: undefined }, c: undefined }, undefined],
    ['a date', { a: new Date(0) }, undefined],
    ['bytes', { a: Buffer.from('x') }, undefined],
    ['a number that is none', { a: { b: [1, Number.NaN] } }, 'a.b[1] is NaN'],
    ['a number without end', { a: Number.POSITIVE_INFINITY }, 'a is Infinity'],
    ['a big integer', { a: { b: 1n } }, 'a.b is a bigint'],
    ['a function', { a: () => 1 }, 'a is a function'],
    ['a symbol', { a: [Symbol('x')] }, 'a[0] is a symbol'],
    ['a hole in a list', { a: [undefined] }, 'a[0] is undefined'],
    ['a map', { a: new Map() }, 'a is a Map'],
    ['what is still to come', { a: Promise.resolve(1) }, 'a is a Promise'],
    ['an error', { a: new TypeError('x') }, 'a is a TypeError'],
    ['what holds itself', { a: circle }, 'nests deeper than 64 levels, or holds itself'],
  ])('finds %s', (_, outputs, problem) => {
    if (problem === undefined) expect(problemOfOutputs(outputs)).toBeUndefined()
    else expect(problemOfOutputs(outputs)).toContain(problem)
  })

  test('lets values nest as deep as an output contract does', () => {
    for (const levels of [63, 64, 65, 66]) {
      const value = nested(levels)
      expect([levels, problemOfOutputs({ a: value }) === undefined]).toEqual([levels, jsonProblem(value) === undefined])
    }
  })

  test('finds nothing in what JSON gives back as it was', () => {
    fc.assert(fc.property(fc.json({ maxDepth: 5 }), (text) => problemOfOutputs({ a: JSON.parse(text) }) === undefined))
  })
})
