import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { eventPosition, type StepFold } from '../../../shared/runs/run-fold.ts'
import { ended, logOf, output, retrying, runStarted, type Step, started } from './event-log.ts'
import { someLog } from './some-log.ts'

/** Attempts of the items of a foreach block, in any order that keeps each item's own. */
const itemSteps = fc
  .tuple(fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 5 }), fc.array(fc.nat(4)))
  .map(([tries, turns]) => {
    const queues = tries.map((most, item) =>
      Array.from({ length: most }, (_, i) => {
        const last = i + 1 === most ? ended('each', i + 1, 'completed') : retrying('each', i + 1)
        return [started('each', i + 1), output('each', i + 1), last].map((step) => ofItem(item, step))
      }).flat(),
    )
    const mixed = turns.flatMap((turn) => queues[turn % queues.length]?.splice(0, 1) ?? [])
    return [...mixed, ...queues.flat()]
  })

function ofItem(item: number, step: Step): Step {
  return { ...step, lane: `9.${item}`, event: { ...step.event, item } }
}

const logWithItems = fc.tuple(someLog, itemSteps, fc.nat()).map(([log, items, at]) => {
  const body = log.filter(({ type }) => !/^run:(?!started)/.test(type))
  const cut = 1 + (at % body.length)
  const each = logOf([runStarted, { ...started('each', 1), lane: '9' }, ...items]).slice(1)
  return [...body.slice(0, cut), ...each, ...body.slice(cut)].map((event, i) => ({ ...event, seq: i + 1 }))
})

/** Each event comes at least once, in order; what came before may come again at any time, alone or in a row. */
const delivered = fc
  .tuple(logWithItems, fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 20 })), { maxLength: 30 }))
  .map(([log, again]) => {
    const deliveries: RunEvent[][] = log.map((event) => [event])
    for (const [after, from, many] of again) {
      const at = after % log.length
      deliveries[at]?.push(...log.slice(from % (at + 1), Math.min(at + 1, (from % (at + 1)) + many)))
    }
    return { log, deliveries: deliveries.flat() }
  })

function keyOf({ block_id, epoch, attempt, item }: StepFold): string {
  return JSON.stringify([block_id, epoch, attempt, item])
}

describe('run_steps', () => {
  test('are 1..n without gap, by started_seq, one a block, epoch, attempt and item', () => {
    fc.assert(
      fc.property(logWithItems, (log) => {
        const { steps } = foldRun(log)
        expect(steps.map(({ index }) => index)).toEqual(steps.map((_, i) => i + 1))
        const seqs = steps.map(({ started_seq }) => started_seq)
        expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
        expect(new Set(steps.map(keyOf)).size).toBe(steps.length)
        const starts = log.filter(({ type }) => type === 'block:started')
        expect(steps.map(keyOf)).toEqual(
          starts.map((event) => keyOf({ ...eventPosition(event), block_id: event.block_id } as StepFold)),
        )
        for (const { state, started_seq, ended_seq } of steps) {
          expect(ended_seq === undefined).toBe(state === 'running')
          expect(ended_seq ?? Number.POSITIVE_INFINITY).toBeGreaterThan(started_seq)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('repeated deliveries add none and move none', () => {
    fc.assert(
      fc.property(delivered, ({ log, deliveries }) => {
        expect(foldRun(deliveries)).toEqual(foldRun(log))
      }),
      { numRuns: 60 },
    )
  })

  test('an attempt that was recorded as started twice is one step, at its first start', () => {
    fc.assert(
      fc.property(logWithItems, fc.nat(), (log, at) => {
        const starts = log.filter(({ type }) => type === 'block:started')
        fc.pre(starts.length > 0)
        const twice = starts[at % starts.length]
        if (twice === undefined) return
        const more = [...log, { ...twice, id: `${twice.id}0`, seq: log.length + 1 }]
        const [one, other] = [foldRun(log).steps, foldRun(more).steps]
        expect(other.map(({ index, started_seq }) => [index, started_seq])).toEqual(
          one.map(({ index, started_seq }) => [index, started_seq]),
        )
      }),
      { numRuns: 60 },
    )
  })
})
