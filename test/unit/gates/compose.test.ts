import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { GateComposition, GateUse } from '../../../shared/dag/dag.ts'
import { composeVerdicts } from '../../../shared/gates/compose-verdicts.ts'
import type { Verdict } from '../../../shared/gates/gate.ts'

type Row = readonly [name: string, status: Verdict['status'], on_fail?: GateUse['on_fail']]

function compose(rows: readonly Row[], composition: GateComposition) {
  const uses = rows.map(([name, , on_fail = 'retry']) => ({ name, on_fail, check: { type: 'not_empty', port: 'x' } }))
  return composeVerdicts(uses, rows.map(verdict), composition)
}

function verdict([name, status]: Row): Verdict {
  const passed = status === 'passed'
  return { name, type: 'not_empty', passed, status, reason: '', facts: {}, duration_ms: 0, input_hash: '' }
}

describe('composeVerdicts()', () => {
  test.each<[string, readonly Row[], string]>([
    [
      'tries again when only such gates failed',
      [
        ['a', 'failed'],
        ['b', 'passed', 'fail'],
      ],
      'retry',
    ],
    [
      'sends back when one of them routes',
      [
        ['a', 'failed'],
        ['b', 'failed', 'route'],
      ],
      'route',
    ],
    [
      'fails for good when one asks for that',
      [
        ['a', 'failed', 'fail'],
        ['b', 'failed', 'route'],
      ],
      'fail',
    ],
    ['passes', [['a', 'passed', 'route']], 'pass'],
    [
      'asks when only such gates failed',
      [
        ['a', 'failed', 'ask'],
        ['b', 'error', 'ask'],
        ['c', 'passed'],
      ],
      'ask',
    ],
    [
      'tries again first where that may help',
      [
        ['a', 'failed', 'ask'],
        ['b', 'failed'],
      ],
      'retry',
    ],
    [
      'sends back rather than ask',
      [
        ['a', 'failed', 'ask'],
        ['b', 'failed', 'route'],
      ],
      'route',
    ],
    [
      'asks nobody about what fails for good',
      [
        ['a', 'failed', 'ask'],
        ['b', 'failed', 'fail'],
      ],
      'fail',
    ],
    [
      'a warning is no matter of a person',
      [
        ['a', 'failed', 'ask'],
        ['b', 'failed', 'warn'],
      ],
      'ask',
    ],
  ])('%s', (_name, rows, action) => {
    expect(compose(rows, 'all').action).toBe(action)
  })

  test.each<[string, readonly Row[], GateComposition, boolean]>([
    [
      'all, all passed',
      [
        ['a', 'passed'],
        ['b', 'passed'],
      ],
      'all',
      true,
    ],
    [
      'all, one failed',
      [
        ['a', 'passed'],
        ['b', 'failed'],
      ],
      'all',
      false,
    ],
    [
      'all, one error',
      [
        ['a', 'passed'],
        ['b', 'error'],
      ],
      'all',
      false,
    ],
    [
      'all, a waived one',
      [
        ['a', 'passed'],
        ['b', 'waived'],
      ],
      'all',
      true,
    ],
    [
      'all, a warning failed',
      [
        ['a', 'passed'],
        ['b', 'failed', 'warn'],
      ],
      'all',
      true,
    ],
    ['all of none', [], 'all', true],
    [
      'any, one passed',
      [
        ['a', 'failed'],
        ['b', 'passed'],
      ],
      'any',
      true,
    ],
    [
      'any, none passed',
      [
        ['a', 'failed'],
        ['b', 'error'],
      ],
      'any',
      false,
    ],
    [
      'any, only a warning passed',
      [
        ['a', 'failed'],
        ['b', 'passed', 'warn'],
      ],
      'any',
      false,
    ],
    ['any of none', [], 'any', true],
    [
      'two of three',
      [
        ['a', 'passed'],
        ['b', 'failed'],
        ['c', 'passed'],
      ],
      { at_least: 2 },
      true,
    ],
    [
      'one of three, two wanted',
      [
        ['a', 'passed'],
        ['b', 'failed'],
        ['c', 'error'],
      ],
      { at_least: 2 },
      false,
    ],
    ['more wanted than there are', [['a', 'passed']], { at_least: 2 }, false],
    [
      'weights that reach in decimals',
      [
        ['a', 'passed'],
        ['b', 'passed'],
      ],
      { weights: { a: 0.7, b: 0.1 }, threshold: 0.8 },
      true,
    ],
    [
      'weights short',
      [
        ['a', 'passed'],
        ['b', 'failed'],
      ],
      { weights: { a: 0.7, b: 0.1 }, threshold: 0.8 },
      false,
    ],
    [
      'a gate without a weight',
      [
        ['a', 'passed'],
        ['b', 'passed'],
      ],
      { weights: { a: 0.5 }, threshold: 0.6 },
      false,
    ],
    ['an inherited name without a weight', [['toString', 'passed']], { weights: {}, threshold: 0.1 }, false],
  ])('%s', (_, rows, composition, passed) => {
    expect(compose(rows, composition).passed).toBe(passed)
  })

  test('names what failed and what follows', () => {
    const rows: readonly Row[] = [
      ['a', 'failed'],
      ['b', 'passed'],
      ['c', 'error', 'fail'],
      ['d', 'failed', 'warn'],
    ]
    expect(compose(rows, 'all')).toEqual({ passed: false, failed: ['a', 'c'], action: 'fail' })
    expect(compose(rows, 'any')).toEqual({ passed: true, failed: ['a', 'c'], action: 'pass' })
    expect(compose(rows.slice(0, 2), 'all').action).toBe('retry')
  })

  test('a gate that failed and was waived then is met; one that fails after that is not', () => {
    const use = { name: 'a', on_fail: 'ask', check: { type: 'not_empty', port: 'x' } } as const
    const [failed, waived] = [verdict(['a', 'failed']), verdict(['a', 'waived'])]
    expect(composeVerdicts([use], [failed, waived], 'all')).toEqual({ passed: true, failed: [], action: 'pass' })
    expect(composeVerdicts([use], [failed, waived, failed], 'all')).toMatchObject({ passed: false, action: 'ask' })
  })

  test('nobody is asked where a waiver would not help', () => {
    const weights = { weights: { a: 1, b: 1 }, threshold: 3 }
    const rows = (on_fail: GateUse['on_fail']): Row[] => [
      ['a', 'failed', on_fail],
      ['b', 'failed', on_fail],
    ]
    expect(compose(rows('ask'), weights).action).toBe('fail')
    expect(compose(rows('ask'), { at_least: 2 }).action).toBe('ask')
  })

  test('what is asked about holds once it is waived, whatever the composition', () => {
    const rows = fc.array(
      fc.tuple(
        fc.constantFrom<Verdict['status']>('passed', 'failed', 'error'),
        fc.constantFrom<GateUse['on_fail']>('ask', 'ask', 'warn', 'retry', 'route', 'fail'),
      ),
      { minLength: 1, maxLength: 6 },
    )
    const composition = fc.oneof(
      fc.constantFrom<GateComposition>('all', 'any'),
      fc.nat(6).map((at_least) => ({ at_least })),
      fc.nat(6).map((threshold) => ({ weights: { g0: 1, g1: 2, g2: 3 }, threshold })),
    )
    fc.assert(
      fc.property(rows, composition, (given, how) => {
        const before = given.map(([status, on_fail], i): Row => [`g${i}`, status, on_fail])
        const asked = compose(before, how)
        if (asked.action !== 'ask') return
        expect(before.filter(([name]) => asked.failed.includes(name)).every(([, , on_fail]) => on_fail === 'ask')).toBe(
          true,
        )
        const after = before.map((row): Row => (asked.failed.includes(row[0]) ? [row[0], 'waived', 'ask'] : row))
        expect(compose(after, how)).toMatchObject({ passed: true, action: 'pass' })
      }),
    )
  })

  test('a gate without a verdict is not met', () => {
    const use = { name: 'a', on_fail: 'retry', check: { type: 'not_empty', port: 'x' } } as const
    expect(composeVerdicts([use], [], 'all')).toEqual({ passed: false, failed: ['a'], action: 'retry' })
  })

  test('a verdict that contradicts itself, or one of two under one name, is not met', () => {
    const use = { name: 'a', on_fail: 'retry', check: { type: 'not_empty', port: 'x' } } as const
    const lie = { ...verdict(['a', 'passed']), passed: false }
    expect(composeVerdicts([use], [lie], 'all').passed).toBe(false)
    expect(composeVerdicts([use], [verdict(['a', 'failed']), verdict(['a', 'passed'])], 'all').passed).toBe(false)
  })

  test('one more passed gate never turns a pass into a failure', () => {
    const rows = fc.array(fc.constantFrom<Verdict['status']>('passed', 'failed', 'error', 'waived'), {
      minLength: 1,
      maxLength: 6,
    })
    const composition = fc.oneof(
      fc.constantFrom<GateComposition>('all', 'any'),
      fc.nat(6).map((at_least) => ({ at_least })),
      fc.nat(6).map((threshold) => ({ weights: { g0: 1, g1: 2, g2: 3 }, threshold })),
    )
    fc.assert(
      fc.property(rows, composition, fc.nat(5), (statuses, how, at) => {
        const before = statuses.map((status, i): Row => [`g${i}`, status])
        const after = before.map((row, i): Row => (i === at ? [row[0], 'passed'] : row))
        expect(compose(before, how).passed && !compose(after, how).passed).toBe(false)
      }),
    )
  })
})
