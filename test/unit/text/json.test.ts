import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '../../../shared/text/json.ts'

/** The library is the meaning of RFC 8785 here; what is faster must write and refuse the same. */
const attempt = (write: () => unknown): unknown => {
  try {
    return write()
  } catch (error) {
    return error instanceof Error ? 'refused' : error
  }
}

function expectSame(value: unknown): void {
  const wanted = attempt(() => canonicalize(value) ?? canonicalJson(undefined))
  expect(attempt(() => canonicalJson(value))).toEqual(wanted)
}

const odd = [Number.NaN, Number.POSITIVE_INFINITY, -0, 1e21, '\ud800', 'x\udc00', '\\ud800', undefined, null, 10n]
const objects = [
  new Date(0),
  Object(1),
  Object('text'),
  Object(true),
  new Map([[1, 2]]),
  { toJSON: () => ({ b: 1, a: 2 }) },
]
const names = fc.constantFrom(
  'a',
  'b',
  'B',
  'aa',
  '10',
  '9',
  '-1',
  '__proto__',
  'toJSON',
  'constructor',
  '',
  'é',
  '\u{1f600}',
  '\ufffd',
)

test('any value is written, or refused, as the library does', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.jsonValue(),
      fc.constantFrom<unknown>(...odd, ...objects, () => 1, Symbol('s')),
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.uniqueArray(fc.tuple(names, tie('value')), { maxLength: 5, selector: ([name]) => name }).map((members) => {
        const made: Record<string, unknown> = Object.create(null)
        for (const [name, member] of members) made[name] = member
        return made
      }),
      fc.dictionary(fc.string({ unit: 'binary' }), tie('value'), { maxKeys: 30 }),
    ),
  }))
  fc.assert(fc.property(value, expectSame), { numRuns: 2_000 })
})

test('members are in the order of their UTF-16 units, few of them or many, at every level', () => {
  const wide = Object.fromEntries(
    Array.from({ length: 200 }, (_, i) => [`k${(i * 7_919) % 200}`, { b: i, a: [{ z: 1, y: 2 }] }]),
  )
  for (const value of [wide, { b: wide, a: 1 }, { a: 1, b: { d: 1, c: 2 } }, [{ b: 1, a: 1 }]]) expectSame(value)
  expect(canonicalJson({ b: 1, a: { d: [], c: undefined } })).toBe('{"a":{"d":[]},"b":1}')
})

test('a value that contains itself is refused, one that is deep is written', () => {
  const circle: Record<string, unknown> = {}
  circle.circle = [circle]
  expect(() => canonicalJson(circle)).toThrow('Circular')
  let deep: unknown = { b: 1, a: 2 }
  for (let level = 0; level < 5_000; level += 1) deep = [deep]
  expectSame(deep)
  const shared = { b: 1, a: 2 }
  expectSame({ second: shared, first: shared })
})

test('nothing is changed of what is written', () => {
  const value = Object.freeze({ b: Object.freeze([Object.freeze({ d: 1, c: 2 })]), a: 1 })
  expect(canonicalJson(value)).toBe('{"a":1,"b":[{"c":2,"d":1}]}')
  expect(JSON.stringify(value)).toBe('{"b":[{"d":1,"c":2}],"a":1}')
})
