import fc from 'fast-check'
import { expect } from 'vitest'
import type { GateFacts, Verdict } from '../../../shared/gates/gate.ts'
import { judgeGate, portsRead } from '../../../shared/gates/judge.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { readPort } from '../../../shared/gates/read-facts.ts'
import type { Provider } from '../../../shared/providers/provider.ts'
import type { Json } from '../../../shared/text/json.ts'
import { inProcessIsolate } from './in-process-isolate.ts'

/** Text that hits the gates' own words, characters that break things, and numbers no JSON has. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('a', 'A b', '12', '-1e9', 'https://a.b/', '{}', '[', '\ud800', '\u202etxt', '\0', 'NaN'),
)
const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0))
export const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
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
/** Facts of a block, and what no block has. */
export const anyFacts: fc.Arbitrary<GateFacts> = fc.record({
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
  webhook: port.map((name) => ({ url: 'https://example.com/', ports: [name] })),
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
  markdown_sections: fc.record({
    port,
    sections: fc.oneof(fc.constant(['a']), fc.array(word, { minLength: 1, maxLength: 2 })),
  }),
  json_path: fc.record({ port, path: fc.constantFrom('a', 'b[0]', '["length"]', '[0]') }),
  keys_present: fc.record({ port, keys: fc.constantFrom(['a'], ['a', 'b'], ['__proto__']) }),
  one_of: fc.record({ port, values: fc.constantFrom<Json>([1, true], ['a B 1 x']) }),
  range: fc.record({ port, min: fc.constantFrom(-1, 1) }),
  llm_review: fc.record({
    port,
    criteria: fc.constant('It is good.'),
    provider: fc.constant('judge'),
    model: fc.constant('m'),
    max_chars: fc.constantFrom(3, 9_000),
  }),
  valid_xml: fc.record({ port }),
  no_secrets: fc.record({ port }),
  no_pii: fc.record({ port }),
  url_allow_list: fc.record({ port, hosts: fc.constantFrom(['a.b'], ['*.b'], []) }),
  prompt_injection_heuristics: fc.record({ port }),
  language: fc.record({ port, expected: fc.constantFrom('en', 'ja') }),
  quote_verbatim: fc.record({ port, evidence: port, min: fc.nat(1) }),
  citation_exists: fc.record({ port, evidence: port, min: fc.nat(1) }),
  citation_coverage: fc.oneof(
    fc.record({ port, min: fc.constantFrom(0.1, 1) }),
    fc.record({ port, evidence: port, min: fc.constantFrom(0.1, 1) }),
  ),
  numbers_in_evidence: fc.record({ port, evidence: port }),
  is_refusal: fc.record({ port, expect: fc.boolean() }),
  finish_reason: fc.record({ allowed: fc.constantFrom(['stop'], ['length', 'stop']) }),
  artifact_exists: fc.record({ port, min_bytes: fc.nat(3) }),
  tokens: fc.record({ max: fc.nat(2), unknown: fc.constantFrom('fail', 'pass') }),
  freshness: fc.record({ port, max_age_sec: fc.nat(9) }),
  port_not_empty: fc.record({ port }),
  port_matches: fc.record({ port, pattern: fc.constantFrom('a', '^') }),
  port_min_length: fc.record({ port, min: fc.nat(3) }),
  port_type: fc.record({ port, expected: fc.constantFrom('string', 'json', 'object', 'file') }),
  expr: fc.record({ expression }),
}

/** A check of that type that mostly parses. */
export function anyCheck(type: string): fc.Arbitrary<{ readonly type: string }> {
  return (PARAMS[type] ?? fc.constant({})).map((params) => ({ ...params, type }))
}

/** The verdict of a check as a document writes it; undefined when it does not parse. */
export async function judgeAny(check: object, given: GateFacts): Promise<Verdict | undefined> {
  const parsed = parseCheck(check)
  if (!parsed.ok) return undefined
  const use = { name: 'g', on_fail: 'retry', check: parsed.check } as const
  return judgeGate(use, given, { isolate: inProcessIsolate, provider: () => MODEL }, () => 0)
}

/** A judge that likes texts with an `a` in them. */
const MODEL: Provider = {
  async dispatch({ prompt, model }) {
    const text = JSON.stringify({ pass: prompt.includes('\na B'), rationale: 'so it is' })
    return { text, tokens_in: 1, tokens_out: 1, model, finish_reason: 'stop' }
  },
}

/** A whole verdict: one sentence of reason, small facts, a hash. */
export function expectWhole(verdict: Verdict): void {
  expect(verdict.passed).toBe(verdict.status === 'passed')
  expect(['passed', 'failed', 'error']).toContain(verdict.status)
  expect([...verdict.reason].length).toBeLessThanOrEqual(300)
  expect(verdict.reason).toMatch(/\S/)
  expect(verdict.reason).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
  expect(verdict.reason.isWellFormed()).toBe(true)
  expect(Buffer.byteLength(JSON.stringify(verdict.facts))).toBeLessThanOrEqual(512)
  expect(verdict.input_hash).toMatch(/^[0-9a-f]{64}$/)
}

export function valuesRead(check: object, given: GateFacts): readonly (Json | undefined)[] {
  const parsed = parseCheck(check)
  if (!parsed.ok) return []
  return portsRead(parsed.check).map((name) => readPort(given, name))
}
