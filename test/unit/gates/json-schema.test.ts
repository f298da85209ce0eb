import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeGate } from '../../../shared/gates/judge.ts'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = (schema: Json) => ({ type: 'json_schema', port: 'answer', schema })

const PERSON = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://example.com/person',
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', pattern: '^[A-Z]' }, age: { $ref: '#/$defs/age' } },
  additionalProperties: false,
  $defs: { age: { type: 'integer', minimum: 0 } },
}

describe('json_schema', () => {
  test('passes for a valid value', async () => {
    expect(await judged(check(PERSON), factsOf({ answer: { name: 'Ada', age: 36 } }))).toMatchObject({ passed: true })
  })

  test('fails with the paths and messages of what is wrong', async () => {
    const verdict = await judged(check(PERSON), factsOf({ answer: { age: -1, nick: 'x' } }))
    expect(verdict.status).toBe('failed')
    expect(verdict.reason).toBe(
      "must be valid under its schema: / must have required property 'name'; / must NOT have additional properties (nick); /age must be >= 0",
    )
  })

  test('tells at most five errors', async () => {
    const schema = { type: 'array', items: { type: 'string' } }
    const verdict = await judged(check(schema), factsOf({ answer: [1, 2, 3, 4, 5, 6, 7] }))
    expect(verdict.reason.match(/must be string/g)).toHaveLength(5)
  })

  test('two patterns in one schema are two patterns', async () => {
    const schema = { properties: { a: { pattern: '^x' }, b: { pattern: '^y' } } }
    expect((await judged(check(schema), factsOf({ answer: { a: 'x', b: 'x' } }))).reason).toContain('/b must match')
    expect((await judged(check(schema), factsOf({ answer: { a: 'x', b: 'y' } }))).passed).toBe(true)
  })

  test.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
    'what every object inherits is no property: %s',
    async (name) => {
      expect((await judged(check({ required: [name] }), factsOf({ answer: {} }))).status).toBe('failed')
      expect((await judged(check({ required: [name] }), factsOf({ answer: JSON.parse(`{"${name}":1}`) }))).passed).toBe(
        true,
      )
    },
  )

  test('a catastrophic pattern is harmless', async () => {
    const schema = { type: 'string', pattern: '^(a+)+$' }
    expect((await judged(check(schema), factsOf({ answer: `${'a'.repeat(50_000)}b` }))).status).toBe('failed')
  })

  test('the meta-schema survives a schema that takes its name', async () => {
    const thief = { $id: 'https://json-schema.org/draft/2020-12/schema', type: 'string' }
    expect((await judged(check(thief), factsOf({ answer: 'x' }))).passed).toBe(true)
    expect(refusals(check({ type: 'strin' }))).toHaveLength(1)
  })

  let wide: Json = { type: 'string' }
  for (let level = 0; level < 40; level += 1) wide = { not: wide }
  const doubling = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [
      `d${i}`,
      i === 19 ? {} : { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ]),
  )
  test.each<[string, Json, RegExp]>([
    ['a remote $ref', { $ref: 'https://example.com/s.json' }, /not local/],
    ['a file $ref', { items: { $ref: 'other.json#/a' } }, /not local/],
    ['a $ref to nothing', { $ref: '#/$defs/nope' }, /points to nothing/],
    ['a $ref to inherited names', { $ref: '#/constructor' }, /points to nothing/],
    ['recursion', { properties: { child: { $ref: '#' } } }, /refers to itself/],
    ['recursion over two', { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, /refers to itself/],
    ['$dynamicRef', { $dynamicRef: '#x' }, /not supported/],
    ['an inner $id', { properties: { a: { $id: 'https://example.com/a' } } }, /at the top only/],
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }, /not draft 2020-12/],
    ['more than 64 KiB', { description: 'x'.repeat(65_536) }, /at most 65536/],
    ['more than 2,000 nodes', { enum: Array.from({ length: 2_000 }, (_, i) => i) }, /more than 2000 nodes/],
    ['more than 32 levels', wide, /deeper than 32/],
    ['references that double twenty times', { $ref: '#/$defs/d0', $defs: doubling }, /expand to \d+ nodes/],
    ['an unknown keyword', { typ: 'string' }, /unknown keyword: "typ"/],
    ['a wrong type name', { type: 'strin' }, /not valid draft 2020-12: \/type/],
    ['a pattern of the wrong engine', { pattern: '(?!a)b' }, /not supported \(RE2 syntax\)/],
    ['a bad patternProperties', { patternProperties: { '[': {} } }, /missing closing/],
    ['a list', [], /./],
    ['a text', 'string', /./],
  ])('refuses %s at parse', (_, schema, reason) => {
    expect(refusals(check(schema))).toEqual([expect.stringMatching(reason)])
  })

  test('an isolate that gives up is an error, never a pass', async () => {
    const isolate = {
      run: async () => ({ ok: false, because: 'time', message: 'it ran longer than 1000 ms' }) as const,
    }
    const use = { name: 'g', on_fail: 'retry', check: check({}) } as const
    const verdict = await judgeGate(use, factsOf({ answer: 1 }), { isolate }, () => 0)
    expect(verdict).toMatchObject({ passed: false, status: 'error' })
    expect(verdict.reason).toBe('cannot check the schema: it ran longer than 1000 ms')
  })

  test('an isolate that answers nonsense is an error, never a pass', async () => {
    for (const value of [null, true, 'valid', [], {}, { valid: 'yes' }]) {
      const isolate = { run: async () => ({ ok: true, value }) as const }
      const use = { name: 'g', on_fail: 'retry', check: check({}) } as const
      expect((await judgeGate(use, factsOf({ answer: 1 }), { isolate }, () => 0)).passed).toBe(false)
    }
  })

  test('{type} passes exactly for values of that type', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        fc.constantFrom('string', 'number', 'boolean', 'array', 'object'),
        async (value, type) => {
          const answer = value as Json
          const seen = Array.isArray(answer) ? 'array' : typeof answer
          const passed = answer !== null && seen === type
          expect((await judged(check({ type }), factsOf({ answer }))).passed).toBe(passed)
        },
      ),
    )
  })
})
