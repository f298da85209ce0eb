import fc from 'fast-check'
import jsonata from 'jsonata'
import { describe, expect, test } from 'vitest'
import {
  compileExpression,
  compilePlainExpression,
  expressionIn,
  type StatesVariable,
} from '../../../../infra/local/asl/expression.ts'
import type { Json } from '../../../../shared/text/json.ts'
import { atMost } from '../../../how-much.ts'

const names = ['a', 'b', 'c', 'input', 'context', 'length', 'constructor', 'two words']
const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    fc.constantFrom<Json>(null, true, false, 0, 1, -1.5, '', 'a', 'two words', '1'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('value'), { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
  ),
})).value
const states: fc.Arbitrary<StatesVariable> = fc.record({ input: json, context: json, result: json })

const step = fc.constantFrom(...names).map((name) => (name.includes(' ') ? `\`${name}\`` : name))
const path = fc
  .tuple(
    fc.constantFrom('$states', '$states', '$states', '$other'),
    fc.constantFrom('.input', '.context', '.result', ''),
    fc.array(step, { maxLength: 3 }),
  )
  .map(([root, field, steps]) => [root + field, ...steps].join('.'))
const expression = fc.letrec<{ any: string; scalar: string }>((tie) => ({
  scalar: fc.oneof(
    { weight: 6, arbitrary: path },
    { weight: 2, arbitrary: fc.constantFrom('1', '-1.5', '"a"', 'true', 'null', '"two words"') },
    // Near misses the plain evaluator must leave to jsonata.
    { weight: 1, arbitrary: path.map((text) => `${text}[0]`) },
    { weight: 1, arbitrary: path.map((text) => `${text}[]`) },
    { weight: 1, arbitrary: path.map((text) => `$count(${text})`) },
    { weight: 1, arbitrary: path.map((text) => `[${text}]`) },
    { weight: 1, arbitrary: path.map((text) => `${text}.*`) },
    { weight: 1, arbitrary: path.map((text) => `${text}^(a)`) },
    { weight: 1, arbitrary: path.map((text) => `${text}{"k": a}`) },
  ),
  any: fc.oneof(
    { maxDepth: 2 },
    tie('scalar'),
    fc.tuple(tie('scalar'), tie('scalar')).map(([a, b]) => `${a} = ${b}`),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom('k', 'l', 'm', 'k', '__proto__'), tie('any')), {
        maxLength: 3,
        selector: ([key]) => key,
      })
      .map((members) => `{${members.map(([key, value]) => `"${key}": ${value}`).join(', ')}}`),
  ),
})).any

describe('the plain evaluator', () => {
  test('answers what jsonata answers, or leaves it to jsonata', async () => {
    let answered = 0
    await fc.assert(
      fc.asyncProperty(expression, states, async (text, given) => {
        const compiled = jsonata(text)
        const plain = compilePlainExpression(compiled.ast())?.(given)
        if (plain === undefined) return
        answered += 1
        const full = await compiled.evaluate(undefined, { states: given })
        expect(plain).toEqual(JSON.parse(JSON.stringify(full)))
      }),
      { numRuns: atMost(5_000, 1_000) },
    )
    expect(answered).toBeGreaterThan(atMost(800, 100))
  })
  test('takes the expressions machines are made of', () => {
    const given: StatesVariable = {
      input: { s: 5, end: 'completed' },
      context: { Execution: { Input: { v: 1 } } },
      result: { Payload: [] },
    }
    const answers = [
      ['$states.context.Execution.Input', { v: 1 }],
      ['$states.result.Payload', []],
      ['$states.input.s', 5],
      ['$states.input.end = "completed"', true],
      ['{"e": $states.input.s}', { e: 5 }],
    ] as const
    for (const [text, value] of answers) expect(compilePlainExpression(jsonata(text).ast())?.(given)).toEqual(value)
  })
})

describe('compileExpression()', () => {
  const given: StatesVariable = { input: { text: '{"a":[1]}', list: [1, 2] }, context: {} }
  test('falls back to jsonata where a member is missing, and then fails', async () => {
    await expect(async () => compileExpression('$states.input.nothing')(given)).rejects.toMatchObject({
      error: 'States.QueryEvaluationError',
      cause_text: expect.stringContaining('$states.input.nothing'),
    })
  })
  test('compiles a text once', () => {
    expect(compileExpression('$states.input.once')).toBe(compileExpression('$states.input.once'))
  })
  test('answers plain JSON: arrays without marks, and no functions', async () => {
    const value = await compileExpression('{"l": $states.input.list[$ > 0]}')(given)
    expect(Object.getOwnPropertyNames((value as { l: unknown }).l)).toEqual(['0', '1', 'length'])
    for (const text of ['$sum', '{"f": $sum}', '[function($x) {$x}]']) {
      await expect(async () => compileExpression(text)(given)).rejects.toMatchObject({
        error: 'States.QueryEvaluationError',
      })
    }
  })
  test('has $parse and no $eval', async () => {
    expect(await compileExpression('$parse($states.input.text).a')(given)).toEqual([1])
    await expect(async () => compileExpression('$eval("1")')(given)).rejects.toMatchObject({
      error: 'States.QueryEvaluationError',
    })
  })
})

test('expressionIn() finds text between {% and %}', () => {
  expect([
    expressionIn('{% a\n.b %}'),
    expressionIn('{%a%}'),
    expressionIn('a {% b %}'),
    expressionIn('plain'),
  ]).toEqual(['a\n.b', 'a', undefined, undefined])
})
