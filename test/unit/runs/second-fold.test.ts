import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { canonicalJson } from '../../../shared/text/json.ts'
import { atMost } from '../../how-much.ts'
import { answeredAsk, asked, resumed } from './asked-steps.ts'
import {
  cancelled,
  ended,
  logOf,
  output,
  ready,
  rerouted,
  runEnded,
  runStarted,
  type Step,
  started,
} from './event-log.ts'
import { secondFold } from './second-fold.ts'
import { someLog } from './some-log.ts'

const texts = (log: readonly RunEvent[]) => [canonicalJson(foldRun(log)), canonicalJson(secondFold(log))]

describe('two folds, written apart (invariant 24)', () => {
  test('are byte-equal on every log and every prefix of it', () => {
    fc.assert(
      fc.property(someLog, fc.nat(), (log, cut) => {
        for (const part of [log, log.slice(0, cut % (log.length + 1))]) {
          const [one, other] = texts(part)
          expect(other).toBe(one)
        }
      }),
      { numRuns: atMost(200, 60) },
    )
  })

  test.each(['completed', 'partial', 'blocked', 'failed', 'cancelled', 'iterated'] as const)(
    'tell the same of a run that ended %s in the middle of an attempt',
    (state) => {
      const [one, other] = texts(logOf([runStarted, ready('a'), started('a', 1), output('a', 1), runEnded(state, 'a')]))
      expect(other).toBe(one)
      expect(JSON.parse(one ?? '')).toMatchObject({ state, blocks: { a: { state: 'cancelled' } } })
    },
  )

  test('tell the same of a block that was stopped alone: its items and attempts end with it', () => {
    const item = (i: number, step: ReturnType<typeof started>) => ({
      ...step,
      lane: `0.${i}`,
      event: { ...step.event, item: i },
    })
    const steps = [
      ready('each'),
      { ...started('each', 1), lane: '0' },
      item(0, started('each', 1)),
      item(1, started('each', 1)),
      item(0, ended('each', 1, 'completed')),
    ]
    const log = logOf([runStarted, ...steps, { ...cancelled('each', 1), lane: '0' }, ready('b'), started('b', 1)])
    const [one, other] = texts(log)
    expect(other).toBe(one)
    expect(JSON.parse(one ?? '')).toMatchObject({
      state: 'running',
      blocks: { each: { state: 'cancelled', items: { 0: { state: 'completed' }, 1: { state: 'cancelled' } } } },
      steps: [{ state: 'cancelled' }, { state: 'completed' }, { state: 'cancelled' }, { state: 'running' }],
    })
  })

  test('tell the same of a block too many of whose items failed: what never began is skipped', () => {
    const item = (i: number, step: ReturnType<typeof started>) => ({
      ...step,
      lane: `0.${i}`,
      event: { ...step.event, item: i },
    })
    const whole = started('each', 1)
    const items = { count: 4, inputs_ref: 'objstore://main/0' }
    const begun = { ...whole, lane: '0', event: { ...whole.event, data: { ...whole.event.data, items } } }
    const lost = ended('each', 1, 'failed')
    const told = { code: 'items_failed', reason: '1 of 4 items failed' }
    const end = { ...lost, lane: '0', event: { ...lost.event, data: told } }
    const steps = [item(0, started('each', 1)), item(2, started('each', 1)), item(0, ended('each', 1, 'failed'))]
    const [one, other] = texts(logOf([runStarted, ready('each'), begun as typeof whole, ...steps, end as typeof lost]))
    expect(other).toBe(one)
    const given_up = { code: 'items_failed' }
    expect(JSON.parse(one ?? '').blocks.each.items).toMatchObject({
      0: { state: 'failed', error: { code: 'gate_failed' } },
      1: { state: 'skipped', attempt: 0, error: given_up },
      2: { state: 'cancelled', attempt: 1, error: given_up },
      3: { state: 'skipped', attempt: 0, error: given_up },
    })
  })

  test('tell the same of a block that is sent back after it was cancelled', () => {
    const first = [runStarted, ready('a'), started('a', 1), cancelled('a', 1), rerouted(['a'], 1), started('a', 1, 1)]
    const [one, other] = texts(logOf(first))
    expect(other).toBe(one)
  })

  test('tell the same of items that wait for one answer together', () => {
    const item = (i: number, step: Step): Step => ({
      ...step,
      lane: `0.${i}`,
      event: { ...step.event, item: i } as Step['event'],
    })
    const [question, answer] = answeredAsk('each', 'budget', 'waive')
    if (question === undefined || answer === undefined) throw new Error('no steps')
    const steps = [
      ready('each'),
      { ...started('each', 1), lane: '0' },
      item(0, started('each', 1)),
      item(1, started('each', 1)),
      item(0, asked('each', 1, 'budget')),
      question,
      item(1, asked('each', 1, 'budget')),
      answer,
      item(1, resumed('each', 1)),
    ]
    for (let n = 1; n <= steps.length; n += 1) {
      const [one, other] = texts(logOf([runStarted, ...steps.slice(0, n)]))
      expect(other).toBe(one)
    }
    const [one = ''] = texts(logOf([runStarted, ...steps]))
    expect(JSON.parse(one)).toMatchObject({
      blocks: { each: { state: 'running', items: { 0: { state: 'ready' }, 1: { state: 'running' } } } },
      approvals: { apr_each_ask: { status: 'approved', about: 'budget' } },
    })
  })
})
