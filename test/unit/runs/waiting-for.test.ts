import { describe, expect, test } from 'vitest'
import type { Block, Dag } from '../../../shared/dag/dag.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { type Waiting, waitingWords } from '../../../shared/runs/waiting.ts'
import { ended, logOf, retrying, runEnded, runStarted, type Step, second, started } from './event-log.ts'

/** What a run of `a -> c` and `b` beside it waits for; of each block the words look at no more than this. */
const block = (id: string, upstream: readonly string[] = []) =>
  ({ id, upstream, retry: { max_attempts: 9 } }) as unknown as Block
const dag = { name: 'words', blocks: [block('a'), block('b'), block('c', ['a'])] } as unknown as Dag

const words = (steps: readonly Step[], more: Partial<Waiting> = {}) =>
  waitingWords(dag, foldRun(logOf(steps)), {
    now: Date.parse(second(100)),
    max_parallel: 50,
    max_attempts: 5,
    ...more,
  })

const queued: Step = {
  event: { ...runStarted.event, data: { ...runStarted.event.data, queued: true } } as Step['event'],
}
const withChild = (step: Step): Step =>
  ({ ...step, event: { ...step.event, data: { ...step.event.data, child: 'run_1' } } }) as Step

describe('waitingWords() says what is waited for, and since when:', () => {
  test('a place among the active runs', () => {
    const at = (place: number, active = 20) => words([queued], { queue: { place, active } })
    expect(at(3)).toBe(`waiting for a place since ${second(1)}: 3rd in the queue, 20 runs are active`)
    const places = [1, 2, 4, 11, 12, 13, 21, 102, 111].map((place) => /(\d+..) in the queue/.exec(at(place) ?? '')?.[1])
    expect(places).toEqual(['1st', '2nd', '4th', '11th', '12th', '13th', '21st', '102nd', '111th'])
    expect(at(1, 1)).toContain('1 run is active')
  })

  test('the machine, before the first block and behind the last', () => {
    expect(words([runStarted])).toBe(`about to start blocks a, b since ${second(1)}`)
    // Released from the queue: its place there is nobody's business any more.
    expect(words([queued])).toBe(`about to start blocks a, b since ${second(1)}`)
    const all = ['a', 'b', 'c'].flatMap((id) => [started(id, 1), ended(id, 1, 'completed')])
    expect(words([runStarted, ...all])).toBe(`waiting for its end since ${second(7)}`)
  })

  test('a child run', () => {
    const log = [runStarted, withChild(started('a', 1)), started('b', 1), ended('b', 1, 'completed')]
    expect(words(log)).toBe(`block a: attempt 1 of 5, waits for child run run_1 since ${second(2)}`)
  })

  test('a running attempt, with the time it took so far and the tries the policy leaves', () => {
    const log = [runStarted, started('a', 1), started('b', 1), retrying('a', 1, 5), started('a', 2)]
    expect(words(log)).toBe('block a: attempt 2 of 5, running for 1 min; block b: attempt 1 of 5, running for 1 min')
    expect(words([runStarted, started('a', 1)], { now: Date.parse(second(7_500)), max_attempts: 20 })).toBe(
      'block a: attempt 1 of 9, running for 2 h 4 min',
    )
  })

  test('an attempt after a lost one, which used up no try', () => {
    const lost = (attempt: number) => [started('b', attempt), retrying('b', attempt, 104, 'ATTEMPT_LOST')]
    const beside = [
      runStarted,
      started('a', 1),
      ended('a', 1, 'completed'),
      started('c', 1),
      ended('c', 1, 'completed'),
    ]
    expect(words([...beside, ...lost(1), started('b', 2)], { max_attempts: 2 })).toBe(
      'block b: attempt 2 (try 1 of 2; attempts that were no try: 1), running for 1 min',
    )
    expect(words([...beside, ...lost(1)], { max_attempts: 2 })).toMatch(
      /^block b: attempt 1 \(no try, 0 of 2 are used up\), provider timeout, next try in 4 s/,
    )
    expect(words([...beside, ...lost(1), started('b', 2), retrying('b', 2, 104)], { max_attempts: 2 })).toMatch(
      /^block b: attempt 2 \(try 1 of 2; attempts that were no try: 1\), provider timeout/,
    )
    const again = [...lost(1), started('b', 2), retrying('b', 2, 104), started('b', 3)]
    expect(words([...beside, ...again], { max_attempts: 2 })).toContain('attempt 3 (try 2 of 2; attempts that were no')
  })

  test('a timer', () => {
    expect(words([runStarted, started('a', 1), retrying('a', 1, 104)])).toBe(
      `block a: attempt 1 of 5, provider timeout, next try in 4 s, waiting since ${second(3)}`,
    )
  })

  test('a free place among the blocks that may run at once', () => {
    const log = [runStarted, started('a', 1)]
    const running = 'block a: attempt 1 of 5, running for 1 min'
    expect(words(log, { max_parallel: 1 })).toBe(
      `${running}; block b: waiting for a free place since ${second(1)} (1 block runs, max_parallel 1)`,
    )
    expect(words(log, { max_parallel: 2 })).toBe(running)
    expect(words(log, { max_parallel: 0 })).toBe(running)
    const later = [...log, ended('a', 1, 'completed'), started('b', 1)]
    expect(words(later, { max_parallel: 1 })).toContain(`block c: waiting for a free place since ${second(3)}`)
  })

  test('nothing, once it has ended', () => {
    expect(words([runStarted, started('a', 1), runEnded('cancelled')])).toBeUndefined()
    expect(words([queued, runEnded('cancelled')], { queue: { place: 1, active: 1 } })).toBeUndefined()
  })
})

test('a queued run is pending until something is known of a block of it', () => {
  const states = (steps: readonly Step[]) => foldRun(logOf(steps)).queued
  expect(states([queued])).toBe(true)
  const patched: Step = { lane: 'ctx', event: { type: 'context:patched', data: { version: 1, keys: ['k'] } } }
  expect(states([queued, patched])).toBe(true)
  expect(states([queued, started('a', 1)])).toBeUndefined()
  expect(states([queued, runEnded('cancelled')])).toBeUndefined()
  expect(states([runStarted])).toBeUndefined()
})
