import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Json } from '../../../shared/canonical.ts'
import type { GateFacts, Verdict } from '../../../shared/gates/gate.ts'
import { judgeGate } from '../../../shared/gates/judge.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { readPort } from '../../../shared/gates/read-port.ts'
import { gateOf, gateTypes } from '../../../shared/gates/registry.ts'
import { inProcessIsolate } from './in-process-isolate.ts'

const THIRTEEN = [
  'contains',
  'matches',
  'min_length',
  'max_value',
  'valid_json',
  'valid_url',
  'json_schema',
  'http',
  'diff',
  'cost',
  'latency',
  'shell',
  'semantic_review',
]
const TEXT = [
  'equals',
  'contains_any',
  'starts_with',
  'ends_with',
  'word_count',
  'max_length',
  'levenshtein',
  'rouge_n',
]
const STRUCTURE = [
  'type_is',
  'contains_json',
  'valid_yaml',
  'csv_columns',
  'markdown_sections',
  'json_path',
  'keys_present',
  'one_of',
  'range',
]
const MORE = [
  'not_empty',
  ...TEXT,
  ...STRUCTURE,
  'port_not_empty',
  'port_matches',
  'port_min_length',
  'port_type',
  'expr',
]

describe('the registry', () => {
  test('has the thirteen, not_empty and the aliases', () => {
    expect(gateTypes()).toEqual([...THIRTEEN, ...MORE])
  })

  test.each(['constructor', '__proto__', '', 'Contains'])('has no gate named %j', (type) => {
    expect(gateOf(type)).toBeUndefined()
  })

  test.each(gateTypes())('%s is strict about its parameters and says what it is', (type) => {
    const gate = gateOf(type)
    expect(gate?.params).toBeInstanceOf(z.ZodObject)
    expect(gate?.params.safeParse({ nobody_has_this: 1 }).success).toBe(false)
    expect(gate?.summary).toMatch(/^Passes when .{20,}\.$/)
  })
})

/** Text that hits the gates' own words, characters that break things, and numbers no JSON has. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('a', 'A b', '12', '-1e9', 'https://a.b/', '{}', '[', '\ud800', '\u202etxt', '\0', 'NaN'),
)
const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0))
const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'toJSON', 'constructor')), tie('value'), { maxKeys: 3 }),
  ),
}))

const PORTS = ['a', 'b', '__proto__', 'length']
const port = fc.constantFrom(...PORTS)
const values = fc.oneof(
  fc.constantFrom<Readonly<Record<string, Json>>>({ a: '# a\n\nx', b: { a: 1, b: [2] } }, { a: '[1]', b: 'a\n1' }),
  fc.dictionary(fc.constantFrom('a', 'b', 'length'), anyValue, { maxKeys: 3 }),
  fc.constantFrom<Readonly<Record<string, Json>>>({ a: 'a B 1 x', b: 'https://a.b/' }, { a: 1, b: true, length: [] }),
)
const measure = fc.option(fc.oneof(number, fc.constant(0.5)))
const facts: fc.Arbitrary<GateFacts> = fc.record({
  inputs: values,
  outputs: values,
  measured: fc.record({ cost_usd: measure, latency_ms: measure }),
})

const schema = fc.constantFrom<Json>(
  {},
  { type: 'string' },
  { not: {} },
  { type: 'object', required: ['a'] },
  { const: null },
)
const expression = fc.constantFrom(
  'inputs.a == null',
  'outputs.a != inputs.b',
  '!outputs.a.length',
  'inputs.a',
  'true',
  'outputs.a in inputs.b',
)
const word = fc.oneof(fc.constantFrom('a', 'B', '1', 'x'), fc.string({ minLength: 1, maxLength: 2 }))

/** Parameters of every kind that mostly parse; what does not is not judged. */
const PARAMS: Readonly<Record<string, fc.Arbitrary<object>>> = {
  contains: fc.record({ port, values: fc.array(word, { minLength: 1, maxLength: 3 }), case_sensitive: fc.boolean() }),
  matches: fc.record({
    port,
    pattern: fc.constantFrom('a', '^$', '.*', '\\d+', '(?i)A'),
    flags: fc.constantFrom('', 'i', 'ms'),
  }),
  min_length: fc.record({ port, min: fc.nat(3) }),
  max_value: fc.record({ port, max: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
  valid_json: fc.record({ port }),
  valid_url: fc.record({ port, schemes: fc.constantFrom(['https'], ['https', 'ftp']) }),
  json_schema: fc.record({ port, schema }),
  http: fc.oneof(fc.record({ port }), fc.constant({ url: 'https://example.com' })),
  diff: fc.record({ left: port, right: port, mode: fc.constantFrom('equal', 'not_equal') }),
  cost: fc.record({ max: fc.nat(2), unknown: fc.constantFrom('fail', 'pass') }),
  latency: fc.record({ max_ms: fc.nat(2) }),
  shell: fc.constant({ command: 'true' }),
  semantic_review: fc.record({ port, keywords: fc.array(word, { minLength: 1, maxLength: 3 }) }),
  not_empty: fc.record({ port }),
  equals: fc.record({
    port,
    value: fc.constantFrom<Json>('a B 1 x', 1, true, [], { a: 1 }),
    case_sensitive: fc.boolean(),
  }),
  contains_any: fc.record({ port, values: fc.array(word, { minLength: 1, maxLength: 3 }) }),
  starts_with: fc.record({ port, value: word, case_sensitive: fc.boolean() }),
  ends_with: fc.record({ port, value: word, case_sensitive: fc.boolean() }),
  word_count: fc.record({ port, min: fc.nat(3) }),
  max_length: fc.record({ port, max: fc.nat(9) }),
  levenshtein: fc.oneof(
    fc.record({ port, text: word, max: fc.nat(9) }),
    fc.record({ port, other: port, max: fc.nat(9) }),
  ),
  rouge_n: fc.record({ port, reference: fc.constantFrom('a', 'a b', 'x'), min: fc.constantFrom(0.1, 1) }),
  type_is: fc.record({ port, expected: fc.constantFrom('string', 'json', 'object', 'file') }),
  contains_json: fc.record({ port, schema }),
  valid_yaml: fc.record({ port }),
  csv_columns: fc.record({ port, columns: fc.constantFrom(['a'], ['a B 1 x']), min_rows: fc.constant(0) }),
  markdown_sections: fc.record({ port, sections: fc.array(word, { minLength: 1, maxLength: 2 }) }),
  json_path: fc.record({ port, path: fc.constantFrom('a', 'b[0]', '["length"]', '[0]') }),
  keys_present: fc.record({ port, keys: fc.constantFrom(['a'], ['a', 'b'], ['__proto__']) }),
  one_of: fc.record({ port, values: fc.constantFrom<Json>([1, true], ['a B 1 x']) }),
  range: fc.record({ port, min: fc.constantFrom(-1, 1) }),
  port_not_empty: fc.record({ port }),
  port_matches: fc.record({ port, pattern: fc.constantFrom('a', '^') }),
  port_min_length: fc.record({ port, min: fc.nat(3) }),
  port_type: fc.record({ port, expected: fc.constantFrom('string', 'json', 'object', 'file') }),
  expr: fc.record({ expression }),
}

async function judge(check: object, given: GateFacts): Promise<Verdict | undefined> {
  const parsed = parseCheck(check)
  if (!parsed.ok) return undefined
  const use = { name: 'g', on_fail: 'retry', check: parsed.check } as const
  return judgeGate(use, given, { isolate: inProcessIsolate }, () => 0)
}

function isWhole(verdict: Verdict): void {
  expect(verdict.passed).toBe(verdict.status === 'passed')
  expect(['passed', 'failed', 'error']).toContain(verdict.status)
  expect([...verdict.reason].length).toBeLessThanOrEqual(300)
  expect(verdict.reason).toMatch(/\S/)
  expect(verdict.reason).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
  expect(verdict.reason.isWellFormed()).toBe(true)
  expect(Buffer.byteLength(JSON.stringify(verdict.facts))).toBeLessThanOrEqual(512)
  expect(verdict.input_hash).toMatch(/^[0-9a-f]{64}$/)
}

function valuesRead(check: object, given: GateFacts): readonly (Json | undefined)[] {
  const parsed = parseCheck(check)
  if (!parsed.ok) return []
  const { type, ...params } = parsed.check
  return (gateOf(type)?.reads(params) ?? []).map((name) => readPort(given, name))
}

describe.each(gateTypes())('any parameters and any facts: %s', (type) => {
  const check = (PARAMS[type] ?? fc.constant({})).map((params) => ({ ...params, type }))

  test('give a verdict, never a throw, the same one again, and never a pass on nothing', async () => {
    let passes = 0
    await fc.assert(
      fc.asyncProperty(check, facts, async (written, given) => {
        const verdict = await judge(written, given)
        if (verdict === undefined) return
        isWhole(verdict)
        expect(await judge(structuredClone(written), structuredClone(given))).toEqual(verdict)
        if (!verdict.passed) return
        passes += 1
        for (const value of valuesRead(written, given)) {
          expect(value ?? undefined).toBeDefined()
          expect(value).not.toBeNaN()
        }
      }),
      { numRuns: 200 },
    )
    // Or the property above would hold for nothing.
    expect(passes > 0).toBe(type !== 'http' && type !== 'shell')
  })

  test('with every port missing or null there is no pass', async () => {
    const nothing = fc.constantFrom<Readonly<Record<string, Json>>>(
      {},
      { a: null, b: null, length: null },
      { a: Number.NaN, b: Number.NaN, length: Number.NaN },
    )
    await fc.assert(
      fc.asyncProperty(check, nothing, nothing, async (written, inputs, outputs) => {
        if (valuesRead(written, { inputs, outputs, measured: { cost_usd: null, latency_ms: null } }).length === 0)
          return
        const given = { inputs, outputs, measured: { cost_usd: null, latency_ms: null } }
        expect((await judge(written, given))?.passed).toBe(false)
      }),
      { numRuns: 50 },
    )
  })

  test('and any other parameters are parsed or refused in words', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(
            'port',
            'values',
            'min',
            'max',
            'pattern',
            'schema',
            'command',
            'url',
            'expression',
            '__proto__',
          ),
          anyValue,
        ),
        (params) => {
          const parsed = parseCheck({ ...params, type })
          if (parsed.ok) return
          expect(parsed.errors.length).toBeGreaterThan(0)
          for (const { message } of parsed.errors) expect(message.length).toBeLessThan(500)
        },
      ),
      { numRuns: 100 },
    )
  })
})
