import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { paramsOfCheck } from '../../../shared/gates/check-composition.ts'
import type { GateFacts, Held } from '../../../shared/gates/gate.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { findGate, gateTypes } from '../../../shared/gates/registry.ts'
import type { Json } from '../../../shared/text/json.ts'
import { atMost } from '../../how-much.ts'
import { anyCheck, anyFacts, anyValue, expectWhole, judgeAny, valuesRead } from './any-check.ts'
import { factsOf } from './judged.ts'

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
  'valid_xml',
  'csv_columns',
  'markdown_sections',
  'json_path',
  'keys_present',
  'one_of',
  'range',
]
const SAFETY = ['no_secrets', 'no_pii', 'url_allow_list', 'prompt_injection_heuristics', 'language']
const GROUNDING = ['quote_verbatim', 'citation_exists', 'citation_coverage', 'numbers_in_evidence']
const MODEL = ['is_refusal', 'finish_reason', 'llm_review']
const OPS = ['artifact_exists', 'tokens', 'freshness', 'webhook']
const MORE = [
  'not_empty',
  ...TEXT,
  ...STRUCTURE,
  ...SAFETY,
  ...GROUNDING,
  ...MODEL,
  ...OPS,
  'port_not_empty',
  'port_matches',
  'port_min_length',
  'port_type',
  'expr',
]

/** Values of each kind of port that is no list and no object. */
const KINDS: readonly (readonly [Held, readonly Json[]])[] = [
  [
    'text',
    [
      'The result of the work is here and it is good for all of us.',
      'a B 1 x',
      '12',
      '{"a": 1}',
      'https://a.b/',
      '# a\n\nx',
      '2026-03-01T11:30:00Z',
      'a\n1',
    ],
  ],
  ['number', [1, 0.5, -3]],
  ['boolean', [true, false]],
]

/** Kinds whose verdict needs a server, a stored object, a time or what somebody writes. */
const WITHOUT_PLACE = new Set(['expr', 'http', 'webhook', 'shell', 'artifact_exists', 'freshness'])

/** The ports a check reads, and whether it says that values of that kind may pass there. */
function fitOf(written: object, held: Held, not: boolean) {
  const parsed = parseCheck(written)
  const gate = parsed.ok ? findGate(parsed.check.type) : undefined
  if (!parsed.ok || gate === undefined) return { ports: [], fits: true }
  const params = paramsOfCheck(parsed.check)
  const ports = gate.reads(params)
  const judged = ports.every((port) => gate.judges?.(params, port).includes(held) ?? true)
  return { ports, fits: judged && (not || (gate.passesOn?.(params).includes(held) ?? true)) }
}

describe('the registry', () => {
  test('has the thirteen, not_empty and the aliases', () => {
    expect(gateTypes()).toEqual([...THIRTEEN, ...MORE])
  })

  test.each(['constructor', '__proto__', '', 'Contains'])('has no gate named %j', (type) => {
    expect(findGate(type)).toBeUndefined()
  })

  test.each(gateTypes())('%s is strict about its parameters and says what it is', (type) => {
    const gate = findGate(type)
    expect(gate?.params).toBeInstanceOf(z.ZodObject)
    expect(gate?.params.safeParse({ nobody_has_this: 1 }).success).toBe(false)
    expect(gate?.summary).toMatch(/^Passes when .{20,}\.$/)
  })
})

describe.each(gateTypes())('any parameters and any facts: %s', (type) => {
  const check = anyCheck(type)
  /** What it is shown to do; a kind that needs a port of the place has none here. */
  const examples = (findGate(type)?.examples ?? []).flatMap(({ check: params, needs, passes: _, ...given }) => {
    const seen: GateFacts = { ...factsOf({}), ...given }
    return needs === undefined ? [[{ ...params, type }, seen] as [{ type: string }, GateFacts]] : []
  })

  test('give a verdict, never a throw, the same one again, and never a pass on nothing', async () => {
    let passes = 0
    await fc.assert(
      fc.asyncProperty(check, anyFacts, async (written, given) => {
        const verdict = await judgeAny(written, given)
        if (verdict === undefined) return
        expectWhole(verdict)
        expect(await judgeAny(structuredClone(written), structuredClone(given))).toEqual(verdict)
        if (!verdict.passed) return
        passes += 1
        for (const value of valuesRead(written, given)) {
          expect(value ?? undefined).toBeDefined()
          expect(value).not.toBeNaN()
        }
      }),
      { numRuns: atMost(200, 30), examples },
    )
    // Or the property above would hold for nothing.
    expect(passes).toBeGreaterThan(examples.length === 0 ? -1 : 0)
  })

  test('negated, the opposite of what was judged, and never a pass on what was not', async () => {
    await fc.assert(
      fc.asyncProperty(check, anyFacts, async (written, given) => {
        const [verdict, opposite] = [await judgeAny(written, given), await judgeAny({ ...written, not: true }, given)]
        if (verdict === undefined || opposite === undefined) {
          expect(opposite).toBe(verdict)
          return
        }
        expectWhole(opposite)
        const pair = [verdict.status, opposite.status].join()
        expect(['passed,failed', 'failed,passed', 'failed,failed', 'error,error']).toContain(pair)
        const unjudged = valuesRead(written, given).some((value) => Number.isNaN(value ?? Number.NaN))
        if (unjudged) expect(opposite.passed).toBe(false)
      }),
      { numRuns: atMost(100, 15) },
    )
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
        expect((await judgeAny(written, given))?.passed).toBe(false)
        expect((await judgeAny({ ...written, not: true }, given))?.passed).toBe(false)
      }),
      { numRuns: atMost(50, 10) },
    )
  })

  /** Whether a check may judge such values at all, and whether it passes any of them. */
  const tryOn = async (written: object, not: boolean, [held, values]: (typeof KINDS)[number]) => {
    const { ports, fits } = fitOf(written, held, not)
    if (ports.length === 0) return { fits: false, passes: false }
    const facts = values.map((value) => factsOf(Object.fromEntries(ports.map((port) => [port, value]))))
    const verdicts = await Promise.all(facts.map((seen) => judgeAny({ ...written, not }, seen)))
    return { fits, passes: verdicts.some((verdict) => verdict?.passed === true) }
  }

  test('what it says it judges is what it judges: of other values no verdict passes, of each of these some does', async () => {
    const passing = new Set<Held>()
    const possible = new Set<Held>()
    await fc.assert(
      fc.asyncProperty(check, fc.boolean(), async (written, not) => {
        // Every kind for every check: that one passes in the end is then no matter of luck.
        for (const [held, values] of KINDS) {
          const { fits, passes } = await tryOn(written, not, [held, values])
          expect(passes && !fits).toBe(false)
          if (fits) possible.add(held)
          if (passes) passing.add(held)
        }
      }),
      { numRuns: atMost(50, 25) },
    )
    if (!WITHOUT_PLACE.has(type)) expect([...possible].filter((held) => !passing.has(held))).toEqual([])
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
      { numRuns: atMost(100, 15) },
    )
  })
})
