import { describe, expect, test } from 'vitest'
import type { Threshold } from '../../../shared/evals/eval-file.ts'
import { junitOf } from '../../../shared/evals/junit.ts'
import { reportRound } from '../../../shared/evals/report.ts'
import type { ResultLine, Round } from '../../../shared/evals/round-file.ts'
import { HEAD, resultLine } from './result-line.ts'

/** Items by the outcome of `expect right` of variants a and b: `+` passed, `-` failed, a space is no result. */
function round(a: string, b: string, more: { readonly round?: string; readonly changed?: number } = {}): Round {
  const results = (
    [
      ['a', a],
      ['b', b],
    ] as const
  ).flatMap(([variant, outcomes]) =>
    [...outcomes].flatMap((outcome, at) => (outcome === ' ' ? [] : [result(variant, at, outcome)])),
  )
  const items = [...a].map((_, at) => ({ id: `i${at}`, sha256: `${at}${at === more.changed ? 'x' : ''}` }))
  const variants = ['a', 'b'].map((name) => ({ name, sha256: name }))
  const complete = results.length === items.length * 2
  return {
    head: { ...HEAD, round: more.round ?? 'r2', variants, items },
    started: new Map(),
    results,
    end: complete ? { type: 'end', at: 't', why: 'complete' } : undefined,
  }
}

function result(variant: string, at: number, outcome: string): ResultLine {
  return resultLine({
    variant,
    item: `i${at}`,
    run_id: `run_${variant}${at}`,
    tokens: variant === 'a' ? 10 : 30,
    usd: 0.001 * (at + 1),
    gates: [{ gate: 'w/g', type: 't', first: outcome === '+' ? 'passed' : 'failed', last: 'passed', reason: 'fine' }],
    expect: [{ name: 'right', status: outcome === '+' ? 'passed' : 'failed', reason: 'because <&> \u0001' }],
  })
}

const threshold = (more: Partial<Threshold> & Pick<Threshold, 'measure'>): Threshold => ({ by: 'estimate', ...more })

describe('reportRound()', () => {
  const both = round('++++++++--', '++++------')

  test('has a share a verdict, a gate as it was at once and in the end, and sums', () => {
    const [a] = reportRound(both, []).variants
    const rate = (what: string) => a?.rates.find((one) => one.what === what)
    expect(rate('expect right')).toMatchObject({ passed: 8, of: 10, rate: 0.8 })
    expect(rate('passed')).toMatchObject({ passed: 8, of: 10 })
    expect(rate('gate w/g')).toMatchObject({ rate: 1, at_once: 0.8 })
    expect([a?.tokens, a?.usd.toFixed(3), a?.measures.usd?.mean.toFixed(4)]).toEqual([100, '0.055', '0.0055'])
  })

  test('compares the first variant with each other one, item by item', () => {
    const [one] = reportRound(both, []).comparisons
    const right = one?.rates.find(({ what }) => what === 'expect right')
    expect(right).toMatchObject({ pairs: 10, better: 0, worse: 4, p: 0.125 })
    expect(right?.difference).toBeCloseTo(-0.4, 12)
    expect(one?.measures.find(({ what }) => what === 'tokens')).toEqual({
      what: 'tokens',
      pairs: 10,
      difference: 20,
      low: 20,
      high: 20,
    })
  })

  test('a price that is not known is no price of zero', () => {
    const unknown = { ...both, results: both.results.map((one) => ({ ...one, usd: null, unpriced_tokens: 5 })) }
    const report = reportRound(unknown, [threshold({ measure: 'usd', max: 1 })])
    expect(report.variants[0]?.measures.usd).toBeUndefined()
    expect(report.thresholds[0]).toMatchObject({
      held: false,
      words: expect.stringMatching(/usd of a was not measured/),
    })
  })

  test('against the last round says what is better and worse, and nothing of items that are others now', () => {
    const before = round('+++---++++', '++++++++++', { round: 'r1', changed: 9 })
    const last = reportRound(both, [], before).last
    const a = last?.variants[0]
    expect([last?.round, a?.items, a?.left_out]).toEqual(['r1', 9, 1])
    const right = a?.changes
      .filter(({ what }) => what === 'expect right')
      .map(({ item, change }) => `${change} ${item}`)
    expect(right).toEqual(['better i3', 'better i4', 'better i5', 'worse i8'])
    expect(a?.runs.i8).toEqual(['run_a8', 'run_a8'])
  })

  test.each<[string, Threshold, boolean, RegExp]>([
    [
      'a share that is high enough',
      threshold({ measure: 'passed', variant: 'a', min: 0.8 }),
      true,
      /passed of a is 0\.8; at least 0\.8 is wanted/,
    ],
    [
      'a share whose interval reaches lower',
      threshold({ measure: 'passed', variant: 'a', min: 0.8, by: 'interval' }),
      false,
      /0\.8 \(0\.4902 to 0\.9433\).*whole interval/,
    ],
    [
      'a gate nobody asked',
      threshold({ measure: 'gate', name: 'w/h', variant: 'a', min: 0 }),
      false,
      /was not measured/,
    ],
    [
      'a mean above the most',
      threshold({ measure: 'tokens', variant: 'b', max: 20 }),
      false,
      /tokens of b is 30; at most 20/,
    ],
    ['worse, with nothing before', threshold({ measure: 'worse', variant: 'b', max: 0 }), true, /is 0; at most 0/],
  ])('a threshold: %s', (_, one, held, words) => {
    const [judged] = reportRound(both, [one]).thresholds
    expect(judged).toMatchObject({ held, words: expect.stringMatching(words) })
  })

  test('is not ok where a threshold is missed, or a result is missing', () => {
    const max = [threshold({ measure: 'worse', max: 0 })]
    expect(reportRound(both, max, round('++++++++++', '++++------', { round: 'r1' }))).toMatchObject({
      complete: true,
      ok: false,
    })
    expect(reportRound(both, max, both)).toMatchObject({ ok: true })
    expect(reportRound(round('++', '+ '), [])).toMatchObject({ complete: false, ok: false, done: 3, planned: 4 })
  })
})

describe('junitOf()', () => {
  test('is a case an item, with what failed, in characters that XML has', () => {
    const one = round('+-', '+ ')
    const xml = junitOf(one, reportRound(one, [threshold({ measure: 'passed', variant: 'a', min: 0.9 })]))
    expect(xml).toMatchSnapshot()
  })
})
