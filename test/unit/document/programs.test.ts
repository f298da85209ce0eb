import { describe, expect, test } from 'vitest'
import { parseDag, parseDagInIsolate } from '../../../shared/document/parse.ts'
import type { Isolate } from '../../../shared/ports/isolate.ts'
import type { Json } from '../../../shared/text/json.ts'
import { inProcessIsolate } from '../gates/in-process-isolate.ts'

/** Schemas and patterns of a document are compiled where nobody else waits for them (shared/gates/compile-programs.ts). */
const large = (more: object = {}): Json => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`p${at}`, { type: 'string' }])),
  ...more,
})

/** One gate a line, so that a line is a gate. */
const document = (checks: readonly Json[]): string => `name: d
blocks:
  - id: a
    mode: deterministic
    deterministic: { handler: pass }
    inputs: { text: { type: string, default: x }, data: { type: json, default: {} } }
    outputs: { text: string, data: json }
    post_gates:
${checks.map((check, at) => `      - { name: g${at}, check: ${JSON.stringify(check)} }`).join('\n')}
`
const schema = (given: Json): Json => ({ type: 'json_schema', port: 'data', schema: given })
const pattern = (given: string): Json => ({ type: 'matches', port: 'text', pattern: given })

/** Counts what it is asked, and answers as the engine does. */
function counting(): { readonly isolate: Isolate; readonly asked: string[] } {
  const asked: string[] = []
  const isolate: Isolate = {
    run: (kind, data) => {
      asked.push(kind)
      return inProcessIsolate.run(kind, data)
    },
  }
  return { isolate, asked }
}

const failing = (because: 'time' | 'memory' | 'error'): Isolate => ({
  run: async () => ({ ok: false, because, message: 'it ran longer than 10000 ms' }),
})

describe('a document checked apart', () => {
  test.each<[string, readonly Json[]]>([
    ['an unknown keyword', [schema(large({ propertys: {} }))]],
    ['a type nobody knows', [schema(large({ properties: { a: { type: 'strin' } } })), schema(large())]],
    ['a look-ahead in a pattern of a schema', [schema(large({ pattern: 'a(?=b)' }))]],
    ['patterns the engine does not have', [schema(large()), pattern('a(?=b)'), pattern('(a)\\1')]],
    ['a pattern that expands too far', [pattern('(?:x{900}y{900}){9}')]],
    [
      'bad programs in compositions',
      [{ any_of: [pattern('('), { not: true, ...(schema(large({ a: 1 })) as object) }] }],
    ],
    ['a schema over its budget beside a bad one', [schema({ $ref: '#/no' }), schema(large({ propertys: {} }))]],
    ['nothing', [schema(large()), pattern('^v\\d+$')]],
  ])('has the words, codes, lines and columns of one checked at once: %s', async (_, checks) => {
    const text = document(checks)
    const { isolate, asked } = counting()
    const apart = await parseDagInIsolate(text, {}, isolate)
    expect(apart).toEqual(parseDag(text))
    expect(asked.length).toBeGreaterThan(0)
    expect(new Set(asked)).toEqual(new Set(['compile']))
  })

  test('says where a schema that does not compile stands', async () => {
    const parsed = await parseDagInIsolate(
      document([schema({}), schema(large({ propertys: {} }))]),
      {},
      inProcessIsolate,
    )
    expect(parsed).toMatchObject({
      ok: false,
      errors: [
        {
          code: 'invalid_value',
          path: 'blocks[0].post_gates[1].check.schema',
          line: 10,
          column: expect.any(Number),
          message: expect.stringContaining('unknown keyword: "propertys"'),
        },
      ],
    })
  })

  test('compiles a few small ones at once: no process is started for them', async () => {
    const { isolate, asked } = counting()
    const text = document([schema({ type: 'object', required: ['a'] }), pattern('^v\\d+$'), schema({ type: 'strin' })])
    expect(await parseDagInIsolate(text, {}, isolate)).toEqual(parseDag(text))
    expect(asked).toEqual([])
  })

  test.each(['time', 'memory'] as const)('is refused when one runs over its %s', async (because) => {
    const parsed = await parseDagInIsolate(document([schema(large())]), {}, failing(because))
    expect(parsed).toMatchObject({
      ok: false,
      errors: [
        { code: 'invalid_value', line: 9, message: expect.stringContaining('it cannot be compiled: it ran longer') },
      ],
    })
  })

  test('is not called wrong when the isolate cannot compute', async () => {
    await expect(parseDagInIsolate(document([schema(large())]), {}, failing('error'))).rejects.toMatchObject({
      name: 'Unavailable',
      code: 'isolate_failed',
    })
  })
})

test('the same schema is compiled once, however often it stands in a document', async () => {
  const { isolate, asked } = counting()
  await parseDagInIsolate(document(Array.from({ length: 9 }, () => schema(large()))), {}, isolate)
  expect(asked).toEqual(['compile'])
})

describe('the schemas of a document together', () => {
  test('have at most 10,000 nodes; what comes after is told once and not compiled', {
    tags: ['thorough'],
  }, async () => {
    const { isolate, asked } = counting()
    // 603 nodes each.
    const parsed = await parseDagInIsolate(
      document(Array.from({ length: 19 }, (_, at) => schema(large({ title: `t${at}` })))),
      {},
      isolate,
    )
    expect(parsed).toMatchObject({
      ok: false,
      errors: [
        {
          code: 'limit_exceeded',
          path: 'blocks[0].post_gates[16].check.schema',
          message: expect.stringContaining('more than 10000 nodes together'),
        },
      ],
    })
    expect(parsed).toMatchObject({ errors: { length: 1 } })
    expect(asked.length).toBe(16)
  })
})
