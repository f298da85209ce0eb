import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { atLeast, negateOutcome, type Outcome } from '../../../shared/gates/check-composition.ts'

const outcome = fc.constantFrom<Outcome>('pass', 'fail', 'unfit', 'error')
const outcomes = fc.array(outcome, { minLength: 1, maxLength: 6 })
const anyOf = (list: readonly Outcome[]) => atLeast(1, list)
const allOf = (list: readonly Outcome[]) => atLeast(list.length, list)
const law = (name: string, holds: (list: readonly Outcome[], k: number) => void) =>
  test(name, () => {
    const counted = outcomes.chain((list) => fc.tuple(fc.constant(list), fc.integer({ min: 1, max: list.length })))
    fc.assert(fc.property(counted, ([list, k]) => holds(list, k)))
  })

describe('the laws of composed checks', () => {
  test.each([
    ['pass', 'fail'],
    ['fail', 'pass'],
    ['unfit', 'unfit'],
    ['error', 'error'],
  ] as const)('not(%s) = %s', (given, answer) => expect(negateOutcome(given)).toBe(answer))

  test.each<[Outcome, Outcome, any: Outcome, all: Outcome]>([
    ['pass', 'pass', 'pass', 'pass'],
    ['pass', 'fail', 'pass', 'fail'],
    ['pass', 'unfit', 'pass', 'unfit'],
    ['pass', 'error', 'pass', 'error'],
    ['fail', 'fail', 'fail', 'fail'],
    ['fail', 'unfit', 'unfit', 'fail'],
    ['fail', 'error', 'error', 'fail'],
    ['unfit', 'unfit', 'unfit', 'unfit'],
    ['unfit', 'error', 'error', 'error'],
    ['error', 'error', 'error', 'error'],
  ])('%s and %s: any_of is %s, all_of is %s', (a, b, any, all) => {
    expect([anyOf([a, b]), allOf([a, b]), anyOf([b, a]), allOf([b, a])]).toEqual([any, all, any, all])
  })

  law('De Morgan: not(at least k of n) = at least n - k + 1 of the negated', (list, k) => {
    expect(negateOutcome(atLeast(k, list))).toBe(atLeast(list.length - k + 1, list.map(negateOutcome)))
  })
  law('negation twice changes nothing', (list) => {
    expect(list.map(negateOutcome).map(negateOutcome)).toEqual(list)
  })
  law('the order of the parts does not matter', (list, k) => {
    expect(atLeast(k, list.toReversed())).toBe(atLeast(k, list))
  })
  law('a pass needs that many passes, whatever the others are', (list, k) => {
    expect(atLeast(k, list) === 'pass').toBe(list.filter((one) => one === 'pass').length >= k)
  })
  law('nothing passes, negated or not, of parts that were not judged', (list, k) => {
    const unjudged = list.map((one) => (one === 'pass' || one === 'fail' ? 'unfit' : one))
    expect(atLeast(k, unjudged)).not.toBe('pass')
    expect(negateOutcome(atLeast(k, unjudged))).not.toBe('pass')
    expect(atLeast(k, unjudged.map(negateOutcome))).not.toBe('pass')
  })
  law('what becomes better never makes the whole worse', (list, k) => {
    if (atLeast(k, list) !== 'pass') return
    for (const at of list.keys()) expect(atLeast(k, list.with(at, 'pass'))).toBe('pass')
  })
})
