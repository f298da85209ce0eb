import { describe, expect, test } from 'vitest'
import { renderTimeline } from '../../../clients/cli/render-timeline.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { EVENTS } from './run-events-sample.ts'

describe('renderTimeline()', () => {
  test('draws every attempt and every wait where it was', () => {
    expect(renderTimeline(EVENTS, 62)).toEqual([
      '  load           ━━━                       0.10 s  completed',
      '  draft            ━━━━━                   0.20 s  retried',
      '  draft try 2            ━━━               0.11 s  completed',
      '  publish waits            ?????????       0.38 s  decided',
      '  publish                          ━━━     0.08 s  completed',
    ])
  })

  test('ends what a cancelled run left open', () => {
    const stop = { ...EVENTS[6], type: 'run:cancelled', data: { code: 'stopped', reason: 'by hand' } } as RunEvent
    expect(renderTimeline([...EVENTS.slice(0, 6), stop], 80).at(-1)).toMatch(/draft .*━ .* cancelled$/)
  })

  test('has nothing to draw for a run without attempts', () => {
    expect(renderTimeline([], 80)).toEqual([])
    expect(renderTimeline(EVENTS.slice(0, 1), 80)).toEqual([])
  })
})
