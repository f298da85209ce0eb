import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (expression: string) => ({ type: 'expr', expression })

describe('expr', () => {
  test('passes when the expression is true', async () => {
    const facts = factsOf({ approved: true, bugs: [] }, { inputs: { kind: 'report' } })
    expect((await judged(check('outputs.approved === true && inputs.kind == "report"'), facts)).passed).toBe(true)
    expect((await judged(check('outputs.bugs.length == 0'), facts)).passed).toBe(true)
  })

  test.each([['inputs.n'], ['inputs.text'], ['inputs.n > 5'], ['inputs.n - 1'], ['inputs.text < 3']])(
    'only true is true: %s does not pass',
    async (expression) => {
      const verdict = await judged(check(expression), factsOf({}, { inputs: { n: 1, text: 'true' } }))
      expect(verdict.status).toBe('failed')
    },
  )

  test('tells what the expression gave', async () => {
    expect((await judged(check('inputs.n > 5'), factsOf({}, { inputs: { n: 1 } }))).reason).toBe(
      'inputs.n > 5 must be true, is false',
    )
  })

  test.each([
    ['inputs.x == null'],
    ['inputs.x != 1'],
    ['!inputs.x'],
    ['true || inputs.x'],
    ['inputs.n == 1 || inputs.x'],
  ])('a missing port fails whatever is asked about it: %s', async (expression) => {
    const facts = factsOf({}, { inputs: { n: 1 } })
    expect((await judged(check(expression), facts)).reason).toBe('missing port x')
    expect((await judged(check(expression), { ...facts, inputs: { n: 1, x: null } })).passed).toBe(false)
  })

  test('an output does not stand in for an input of the same name', async () => {
    expect((await judged(check('inputs.x == null'), factsOf({ x: 1 }))).reason).toBe('missing port x')
    expect((await judged(check('outputs.x == null'), factsOf({}, { inputs: { x: 1 } }))).passed).toBe(false)
  })

  test('the input hash tells an input from an output of the same name', async () => {
    const one = await judged(check('inputs.x == 1'), factsOf({ x: 5 }, { inputs: { x: 1 } }))
    const two = await judged(check('inputs.x == 1'), factsOf({ x: 5 }, { inputs: { x: 2 } }))
    expect([one.passed, two.passed]).toEqual([true, false])
    expect(one.input_hash).not.toBe(two.input_hash)
  })

  test.each([
    ['a call', 'fetch("x")'],
    ['another root', 'process.exit'],
    ['a root alone', '"x" in inputs'],
    ['the prototype', 'inputs.__proto__.x'],
    ['nothing', ''],
    ['an open bracket', 'inputs.x =='],
  ])('refuses %s at parse', (_, expression) => {
    expect(refusals(check(expression))).toHaveLength(1)
  })

  test('comparisons agree with JavaScript', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.integer(),
        fc.constantFrom('<', '<=', '>', '>=', '==='),
        async (a, b, operator) => {
          const wanted = { '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b, '===': a === b }[operator]
          const verdict = await judged(check(`inputs.a ${operator} outputs.b`), factsOf({ b }, { inputs: { a } }))
          expect(verdict.passed).toBe(wanted)
        },
      ),
    )
  })
})
