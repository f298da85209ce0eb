import { describe, expect, test } from 'vitest'
import { eventLine } from '../../../clients/cli/run/events.ts'
import { failedTail } from '../../../clients/cli/run/log.ts'
import { verdictLines } from '../../../clients/cli/run/status.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { EVENTS, ITEM_EVENTS, START } from './run-events-sample.ts'

test('of a step that failed the end of its log is told too', () => {
  const output = EVENTS.find(({ type }) => type === 'block:output')
  if (output?.type !== 'block:output') throw new Error('the sample has no output')
  const log = { ref: 'objstore://main/0', bytes: 20, lines: 9, tail: ['row 3', 'error: no row 4'] }
  const ended = (finish_reason: string) => ({ ...output, data: { ...output.data, finish_reason, log } })
  expect(failedTail(ended('step_failed'))).toEqual(['  | row 3', '  | error: no row 4'])
  expect([failedTail(ended('returned')), failedTail(output)]).toEqual([[], []])
})

describe('eventLine()', () => {
  test('tells a run as lines with the time since its start', () => {
    expect(EVENTS.map((event) => eventLine(event, START)).filter((line) => line !== undefined)).toEqual([
      '   0.00 s  run of brief started by user:ana',
      '   0.01 s  load: started',
      '   0.11 s  load: completed',
      '   0.12 s  draft: started',
      '   0.30 s  draft: local template gave text (2.0 KiB) in 0.15 s',
      '   0.31 s  draft: gate long-enough failed: has 12 characters, at least 200 wanted',
      '   0.32 s  draft: tries again in 0.08 s: long-enough failed',
      '   0.40 s  draft: attempt 2 started',
      '   0.50 s  draft: gate long-enough passed: has 300 characters',
      '   0.51 s  draft: completed',
      '   0.52 s  publish: waits for approval until 2026-01-02T00:00:00.000Z',
      '   0.90 s  publish: approved by user:ana via cli after 0.38 s',
      '   0.91 s  publish: started',
      '   0.99 s  publish: completed',
      '   1.00 s  run completed: every block completed',
    ])
  })

  test('tells of items under their number', () => {
    expect(ITEM_EVENTS.slice(1, 6).map((event) => eventLine(event, START))).toEqual([
      '   0.00 s  draft: started on 14 items',
      '   0.00 s  draft[0]: started',
      '   0.02 s  draft[0]: completed',
      '   0.00 s  draft[1]: started',
      '   0.02 s  draft[1]: failed: too short',
    ])
  })

  test('tells what a goal came to, and of older events what they know', () => {
    const said = (type: string, data: object) =>
      eventLine({ ...EVENTS[0], type, data } as unknown as RunEvent, START)
        ?.trim()
        .replace(/^\S+ s {2}/, '')
    const known = { status: 'NOT_MET', met: 3, total: 4, attempt: 1 }
    expect(said('goal:evaluated', { ...known, row: 'PASS x NOT_MET', final_status: 'PARTIAL', action: 'pivot' })).toBe(
      'goal, attempt 1: NOT_MET, 3 of 4 criteria; PASS x NOT_MET: PARTIAL, next pivot',
    )
    expect(said('goal:evaluated', known)).toBe('goal, attempt 1: NOT_MET, 3 of 4 criteria')
    expect(said('goal:evaluated', { ...known, status: 'NO_CONTRACT', met: 0, total: 0 })).toBe(
      'goal, attempt 1: NO_CONTRACT',
    )
    expect(said('run:partial', { reason: 'why' })).toBe('run partial: why')
  })

  test('tells why a block was left out, and what a bounce sends back', () => {
    const said = (type: string, data: object) => eventLine({ ...EVENTS[3], type, data } as unknown as RunEvent, START)
    expect(said('block:skipped', { because: ['a', 'b'] })).toMatch(/skipped because of a, b$/)
    expect(said('block:skipped', { because: [], condition: 'when' })).toMatch(/skipped, as its "when" is not true$/)
    const bounce = { to: 'plan', reset: ['plan', 'load'], bounce: 1, max: 2, epoch: 1, reason: 'not tested' }
    expect(said('block:rerouted', bounce)).toMatch(
      /: sent back to plan \(bounce 1 of 2; again: plan, load\): not tested$/,
    )
  })

  test('names an event of a type it does not know', () => {
    expect(eventLine({ ...EVENTS[3], type: 'block:waived' } as unknown as RunEvent, START)).toMatch(
      /load: block:waived$/,
    )
  })
})

describe('verdictLines()', () => {
  test('lists every verdict, those of failed attempts too', () => {
    expect(verdictLines(EVENTS)).toEqual([
      '  ✗ draft (attempt 1) long-enough failed: has 12 characters, at least 200 wanted',
      '  ✓ draft (attempt 2) long-enough passed: has 300 characters',
    ])
  })
})
