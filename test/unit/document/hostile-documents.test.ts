import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'
import { firstDaily } from '../../how-much.ts'

const MAX = 262_144

/** A document of 256 KiB: a start, and then the same again and again. */
function filled(start: string, unit: (index: number) => string): string {
  const parts = [start]
  for (let length = start.length, index = 0; ; index += 1) {
    const part = unit(index)
    length += part.length
    if (length > MAX) return parts.join('')
    parts.push(part)
  }
}

/** Blocks of twenty gates each. */
function gates(check: (index: number) => string): string {
  const head = (index: number) =>
    `- id: b${index / 20}\n  name: x\n  mode: deterministic\n  deterministic: { handler: pass }\n  outputs: { o: string }\n  post_gates:\n`
  const gate = (index: number) => `  - { name: g${index % 20}, check: ${check(index)} }\n`
  return filled('blocks:\n', (index) => (index % 20 === 0 ? head(index) : '') + gate(index))
}

const many = (count: number, one: (index: number) => string) => Array.from({ length: count }, (_, at) => one(at)).join()
const pattern = (index: number) => `{ type: matches, port: o, pattern: '(\\pL{1,15}){1,30}${index}' }`
const patterns = (index: number) =>
  `{ type: json_schema, port: o, schema: { patternProperties: { ${many(100, (at) => `'(x{1,15}){1,30}${index}_${at}': {}`)} } } }`
const references = (index: number) =>
  `{ type: json_schema, port: o, schema: { $defs: { a: { const: ${index} } }, allOf: [${many(900, () => "{ $ref: '#/$defs/a' }")}] } }`

const program = () =>
  `- { id: b, mode: deterministic, deterministic: { handler: transform, config: { expression: "${'a.[b].'.repeat(660)}a" } } }\n`
const rule = '{ when_gate: g, route_to: b0 }'
const chained = (index: number) =>
  `- id: b${index}
  agent: { role: worker }
  outputs: { o: string }
  depends: ${index === 0 ? '"true"' : many(Math.min(index, 8), (at) => `b${index - 1 - at}.done`).replaceAll(',', ' || ')}
  post_gates: [{ name: g, check: { type: not_empty, port: o } }]
  on_gate_fail: [${many(3, () => rule)}]\n`

/**
 * Each took 45 to 200 times the time of an ordinary document of its length before its limit, and takes 15 times now.
 * Time of this thread: others may keep the machine busy.
 */
const BOUND = 30
const ordinary = filled(
  'blocks:\n',
  (index) => `- { id: b${index}, mode: deterministic, deterministic: { handler: pass } }\n`,
)

function ownTime(text: string): number {
  const start = process.threadCpuUsage()
  parseDag(text)
  const { user, system } = process.threadCpuUsage(start)
  return user + system
}

describe('a document made to be slow', () => {
  for (const { tags, rows } of firstDaily(3, [
    ['JSONata of endless paths', filled('blocks:\n', program), 'duplicate_id'],
    ['thousands of references in schemas', gates(references), 'limit_exceeded'],
    [
      'empty items after a long comment',
      filled(`- #${'c'.repeat(100_000)}\n  !!null\n`, () => '- !!null\n'),
      'not_a_mapping',
    ],
    [
      'empty items after many lines',
      filled(`- ${'\n'.repeat(100_000)}  !!null\n`, () => '- !!null\n'),
      'not_a_mapping',
    ],
    ['empty items with anchors', filled(`- #${'c'.repeat(100_000)}\n  &a\n`, () => '- &b\n'), 'not_a_mapping'],
    ['thousands of patterns', gates(pattern), 'limit_exceeded'],
    ['thousands of patterns in schemas', gates(patterns), 'limit_exceeded'],
    ['hundreds of ways back over everything', filled('blocks:\n', chained), 'limit_exceeded'],
  ] as const))
    test.each(rows)('is answered soon: %s', { tags }, (_, text, code) => {
      const parsed = parseDag(text)
      const best = { text: Number.POSITIVE_INFINITY, ordinary: Number.POSITIVE_INFINITY }
      for (let tries = 0; tries < 3; tries += 1) {
        best.text = Math.min(best.text, ownTime(text))
        best.ordinary = Math.min(best.ordinary, ownTime(ordinary))
        if (best.text < BOUND * best.ordinary) break
      }
      expect(best.text).toBeLessThan(BOUND * best.ordinary)
      expect(parsed.ok ? [] : parsed.errors.map((error) => error.code)).toContain(code)
    })

  test('the limit is told once, where it is passed, and 1,000 patterns are fine', () => {
    const gate = (count: number) =>
      `blocks:\n- id: b\n  name: x\n  mode: deterministic\n  deterministic: { handler: pass }\n  outputs: { o: json }\n  post_gates:\n${many(
        count,
        (at) =>
          `  - { name: g${at}, check: { type: json_schema, port: o, schema: { patternProperties: { ${many(100, (key) => `a${at}_${key}: {}`)} } } } }\n`,
      ).replaceAll('\n,', '\n')}`
    expect(parseDag(gate(10)).ok).toBe(true)
    expect(parseDag(gate(13))).toMatchObject({
      ok: false,
      errors: [{ code: 'limit_exceeded', path: 'blocks[0].post_gates[10].check' }],
    })
  })
})
