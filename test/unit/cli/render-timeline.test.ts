import { describe, expect, test } from 'vitest'
import { renderTimeline } from '../../../clients/cli/run/render-timeline.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { EVENTS, ITEM_EVENTS, START } from './run-events-sample.ts'

const NOW = Date.parse('2026-01-03T00:00:00.000Z')

describe('renderTimeline()', () => {
  test('draws every attempt and every wait where it was', () => {
    expect(renderTimeline(EVENTS, 62, NOW)).toEqual([
      '  load           ━━━                       0.10 s  completed',
      '  draft            ━━━━━                   0.20 s  retried',
      '  draft try 2            ━━━               0.11 s  completed',
      '  publish waits            ?????????       0.38 s  decided',
      '  publish                          ━━━     0.08 s  completed',
    ])
  })

  test('leaves out items of a crowd that went well', () => {
    const few = renderTimeline(ITEM_EVENTS.slice(0, 6), 62, START + 30)
    expect(few.map((line) => line.trim().split(' ')[0])).toEqual(['draft', 'draft[0]', 'draft[1]'])
    const crowd = renderTimeline(ITEM_EVENTS, 62, START + 30)
    expect(crowd.map((line) => line.trim().split(' ')[0])).toEqual(['draft', 'draft[1]'])
    expect(crowd[1]).toMatch(/failed$/)
  })

  test('lets what is still open last until now', () => {
    const asked = EVENTS.findIndex(({ type }) => type === 'approval:requested')
    const now = Date.parse(EVENTS[asked]?.at ?? '') + 60_000
    const open = EVENTS.slice(0, asked + 1)
    expect(renderTimeline(open, 80, now).at(-1)).toMatch(/publish waits +\?{5,} +1 min 00 s {2}waiting$/)
    expect(renderTimeline(EVENTS.slice(0, 3), 80, now).at(-1)).toMatch(/load +━+ .* running$/)
  })

  test('ends what a cancelled run left open', () => {
    const stop = { ...EVENTS[6], type: 'run:cancelled', data: { code: 'stopped', reason: 'by hand' } } as RunEvent
    expect(renderTimeline([...EVENTS.slice(0, 6), stop], 80, NOW).at(-1)).toMatch(/draft .*━ .* cancelled$/)
  })

  test('has nothing to draw for a run without attempts', () => {
    expect(renderTimeline([], 80, NOW)).toEqual([])
    expect(renderTimeline(EVENTS.slice(0, 1), 80, NOW)).toEqual([])
  })
})
