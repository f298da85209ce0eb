import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluateBounded } from '../../../functions/isolate/bounded-expression.ts'
import { runTransformJob } from '../../../functions/isolate/transform-engine.ts'
import type { Json } from '../../../shared/text/json.ts'

const INPUT = {
  inputs: { n: 3, s: 'tea', rows: [{ a: 1 }, { a: 2, b: null }], deep: { er: [[1], [2, 3]] }, none: null },
}

const inIsolate = (program: string, input: Json) => runTransformJob({ kind: 'transform', program, input })

describe('an expression that can do little', () => {
  test.each([
    'inputs.n + 1',
    '"the " & inputs.s & "!"',
    '{"a": inputs.n, "b": [inputs.s, true, null]}',
    'inputs.rows.a',
    'inputs.rows.{"x": a, "y": b}',
    'inputs.n > 2 and inputs.s = "tea" ? "yes" : "no"',
    '(inputs.n * 2) % 4',
    '-inputs.n',
    'inputs.n in [1, 2, 3]',
    'inputs.deep.er',
    'inputs."s"',
  ])('%s is evaluated here, and comes to what the isolate makes of it', async (program) => {
    const text = await evaluateBounded({ program, input: INPUT })
    expect(text).toBeDefined()
    expect(text).toBe(await inIsolate(program, INPUT))
  })

  test.each([
    '$sum(inputs.rows.a)',
    'inputs.rows[0]',
    'inputs.rows[]',
    'inputs.*',
    'inputs.**.a',
    '[1..1000]',
    'inputs.constructor',
    'inputs.__proto__.x',
    '{"__proto__": inputs.n}',
    '{inputs.s: 1}',
    '($x := inputs.n; $x)',
    'inputs.rows^(a)',
    'inputs.s.$uppercase()',
    '/a/',
    'function($x) { $x }',
    'inputs.rows{"k": a}',
    'inputs.rows@$r.a',
    'inputs.rows#$i.a',
    'inputs ~> |rows|{"a": 1}|',
    'inputs.nothing',
    'inputs.n + "x"',
    'not (',
    `inputs.${'a.'.repeat(300)}b`,
    '"" & ["" & [inputs.s]]',
    '{"k": "x" & inputs.{"l": s}}',
  ])('%s is left to the isolate', async (program) => {
    expect(await evaluateBounded({ program, input: INPUT })).toBeUndefined()
  })

  test('a large input is left to the isolate', async () => {
    const rows = Array.from({ length: 3_000 }, (_, a) => ({ a }))
    expect(await evaluateBounded({ program: 'inputs.rows.a', input: { inputs: { rows } } })).toBeUndefined()
    expect(await evaluateBounded({ program: 'inputs.s', input: { inputs: { s: 'x'.repeat(70_000) } } })).toBeUndefined()
  })

  test('a list without entries stays one where objects are made of it', async () => {
    const input = { inputs: { b: [[], [1]] } }
    const text = await evaluateBounded({ program: 'inputs.b.{"k": 1}', input })
    expect(text).toBe(await inIsolate('inputs.b.{"k": 1}', { inputs: { b: [[], [1]] } }))
    expect(input).toEqual({ inputs: { b: [[], [1]] } })
  })

  const { expression } = fc.letrec<{ expression: string }>((tie) => {
    const part = tie('expression')
    const pair = fc.tuple(part, part)
    const path = fc
      .array(fc.constantFrom('a', 'b', 'rows'), { maxLength: 3 })
      .map((names) => ['inputs', ...names].join('.'))
    return {
      expression: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        path,
        fc.integer({ min: 0, max: 9 }).map(String),
        fc.constantFrom('"x"', 'true', 'null'),
        fc
          .tuple(pair, fc.constantFrom('+', '-', '*', '/', '%', '&', '=', '!=', '<', '>=', 'and', 'or', 'in'))
          .map(([[left, right], operator]) => `(${left} ${operator} ${right})`),
        pair.map(([left, right]) => `[${left}, ${right}]`),
        pair.map(([left, right]) => `{"k": ${left}, "l": ${right}}`),
        fc.tuple(path, part).map(([rows, each]) => `${rows}.{"k": ${each.replaceAll('inputs.', '')}}`),
        fc.tuple(part, part, part).map(([when, then, other]) => `(${when} ? ${then} : ${other})`),
      ),
    }
  })
  const value: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>
  const inputs = fc.record({ a: value, b: value, rows: fc.array(fc.record({ a: value, b: value }), { maxLength: 4 }) })

  test('what is evaluated here is what the isolate makes of it, and leaves its input as it was', async () => {
    let here = 0
    await fc.assert(
      fc.asyncProperty(expression, inputs, async (program, given) => {
        const before = JSON.stringify(given)
        const text = await evaluateBounded({ program, input: { inputs: given } })
        expect(JSON.stringify(given)).toBe(before)
        if (text === undefined) return
        here += 1
        expect(text).toBe(await inIsolate(program, JSON.parse(JSON.stringify({ inputs: given }))))
      }),
      { numRuns: 300 },
    )
    expect(here).toBeGreaterThan(50)
  })
})
