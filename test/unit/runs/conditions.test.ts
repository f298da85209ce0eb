import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../../shared/runs/lane.ts'
import { isWhenTrue, upstreamSkipReason } from '../../../shared/runs/skip-rules.ts'
import type { Json } from '../../../shared/text/json.ts'

type Outcomes = Readonly<Record<string, Outcome>>

const skipOf = (upstream: readonly string[], depends: string | undefined, outcomes: Outcomes) =>
  upstreamSkipReason({ upstream, ...(depends === undefined ? {} : { depends }) }, (id) => outcomes[id])

describe('upstreamSkip()', () => {
  const ends = { ok: 'completed', bad: 'failed', left: 'skipped', gone: 'cancelled' } as const

  test.each<[string, readonly string[], string | undefined, object | undefined]>([
    ['all completed', ['ok'], undefined, undefined],
    ['one failed', ['ok', 'bad'], undefined, { because: ['bad'] }],
    ['one skipped, one cancelled', ['left', 'gone'], undefined, { because: ['left', 'gone'] }],
    ['depends on the failure', ['bad'], 'bad.failed', undefined],
    ['depends on success that did not come', ['bad'], 'bad.succeeded', { because: ['bad'], condition: 'depends' }],
    ['either of two', ['ok', 'bad'], 'ok.succeeded || bad.succeeded', undefined],
    ['completed is succeeded', ['ok'], 'ok.completed && !ok.failed', undefined],
    ['skipped, cancelled, done', ['left', 'gone'], 'left.skipped && gone.cancelled && left.done', undefined],
    ['an upstream it does not name must have succeeded', ['bad', 'left'], 'bad.failed', { because: ['left'] }],
    ['a condition that is no boolean', ['ok'], 'ok.succeeded ? "yes" : "no"', { because: [], condition: 'depends' }],
    ['false though all completed', ['ok'], 'ok.failed', { because: [], condition: 'depends' }],
    ['ids with dashes', ['a-b'], 'a-b.failed', { because: ['a-b'], condition: 'depends' }],
  ])('%s', (_name, upstream, depends, skip) => {
    expect(skipOf(upstream, depends, ends)).toEqual(skip)
  })

  test('names no more blocks than an event has room for', () => {
    const many = Array.from({ length: 100 }, (_, i) => `b${i}`)
    expect(skipOf(many, undefined, {})?.because).toHaveLength(20)
  })

  test('with every upstream named as `.succeeded`, says the same as no condition at all', () => {
    const outcome = fc.constantFrom<Outcome>('completed', 'failed', 'skipped', 'cancelled')
    fc.assert(
      fc.property(fc.array(outcome, { minLength: 1, maxLength: 6 }), (list) => {
        const outcomes = Object.fromEntries(list.map((one, i) => [`b${i}`, one]))
        const ids = Object.keys(outcomes)
        const depends = ids.map((id) => `${id}.succeeded`).join(' && ')
        expect(skipOf(ids, depends, outcomes)?.because).toEqual(skipOf(ids, undefined, outcomes)?.because)
      }),
    )
  })
})

describe('holdsWhen()', () => {
  test.each<[string | undefined, Record<string, Json>, boolean]>([
    [undefined, {}, true],
    ['inputs.kind == "report"', { kind: 'report' }, true],
    ['inputs.kind == "report"', { kind: 'note' }, false],
    ['inputs.kind == "report"', {}, false],
    ['!inputs.quiet', {}, false],
    ['inputs.quiet == null', {}, true],
    ['inputs.count', { count: 1 }, false],
    ['inputs.count > 0 && inputs.list.length == 2', { count: 1, list: [1, 2] }, true],
  ])('%s over %j is %s', (when, inputs, holds) => {
    expect(isWhenTrue(when === undefined ? {} : { when }, inputs)).toBe(holds)
  })
})
