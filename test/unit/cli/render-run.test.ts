import { stripVTControlCharacters } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { renderRun } from '../../../clients/cli/run/render-run.ts'
import { liveRun } from '../../../clients/cli/run/watch.ts'
import { displayWidth } from '../../../clients/cli/terminal/text.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { ANSWER, EVENTS, ITEM_EVENTS, itemEvent, START } from './run-events-sample.ts'

const viewAfter = (n: number) => liveRun(ANSWER, foldRun(EVENTS.slice(0, n)))
const canvas = { columns: 80, rows: 20, color: false, now: START + 350 }

/** After the first six. */
const numbered = (events: readonly object[]) => events.map((event, i) => ({ ...event, seq: 7 + i }) as RunEvent)

describe('renderRun()', () => {
  test('shows state, tries, gates and elapsed time of every block', () => {
    expect(renderRun(viewAfter(8), canvas)).toEqual([
      'brief  running  1/3 blocks  120 tokens  unknown price  0.35 s',
      '  ✓ load     completed  0.10 s',
      '  ↻ draft    retrying   try 1/3  again in 0.05 s  1 of 1 gate failed  long-enou…',
      '  · publish  pending',
    ])
  })

  test('says how far a step is, while it works', () => {
    const begun = EVENTS.find(({ type, block_id }) => type === 'block:started' && block_id === 'draft')
    const more = numbered([
      { ...begun, type: 'step:progress', data: { fraction: 0.4, note: 'row 400 of 1000' } },
      { ...begun, type: 'block:failed', data: { code: 'step_failed', reason: 'no row 401' } },
    ])
    const shown = (n: number) =>
      renderRun(liveRun(ANSWER, foldRun([...EVENTS.slice(0, 6), ...more.slice(0, n)])), canvas)[2]
    expect(shown(1)).toMatch(/draft +running +40 % row 400 of 1000/)
    expect(shown(2)).not.toContain('%')
  })

  test('counts no lost attempt as a try', () => {
    const begun = EVENTS.find(({ type, block_id }) => type === 'block:started' && block_id === 'draft')
    const at = { ...begun, at: new Date(START + 300).toISOString() }
    const lost = { code: 'ATTEMPT_LOST', reason: 'attempt 1 was lost', due_at: at.at }
    const more = numbered([
      { ...at, type: 'block:retrying', attempt: 1, data: lost },
      { ...at, attempt: 2 },
    ])
    const shown = (n: number) =>
      renderRun(liveRun(ANSWER, foldRun([...EVENTS.slice(0, 6), ...more.slice(0, n)])), canvas)[2]
    expect(shown(1)).toMatch(/draft +retrying +1 attempt not counted/)
    expect(shown(2)).toMatch(/draft +running +try 1\/3, 1 attempt not counted/)
  })

  test('tells waived gates from failed ones', () => {
    const gate = (name: string, status: string) => ({
      ...EVENTS[6],
      type: 'block:gate',
      data: {
        gate: name,
        type: 'contains',
        phase: 'post',
        status,
        reason: 'r',
        input_hash: 'h',
        facts: {},
        duration_ms: 1,
      },
    })
    const gatesOf = (...events: readonly object[]) =>
      renderRun(liveRun(ANSWER, foldRun([...EVENTS.slice(0, 6), ...numbered(events)])), {
        ...canvas,
        columns: 120,
      })[2]
    const failed = gate('one', 'failed')
    expect(gatesOf(failed, gate('one', 'waived'))).toContain('1 of 1 gate waived')
    expect(gatesOf(failed, gate('one', 'waived'), gate('two', 'error'))).toContain('1 of 2 gates failed, 1 waived')
  })

  test('cancels what no event named when the run ends', () => {
    const stop = {
      ...EVENTS[6],
      type: 'run:cancelled',
      block_id: undefined,
      data: { code: 'stopped', reason: 'by hand' },
    }
    const lines = renderRun(liveRun(ANSWER, foldRun([...EVENTS.slice(0, 6), stop as unknown as RunEvent])), canvas)
    expect(lines).toEqual([
      'brief  cancelled  1/3 blocks  120 tokens  unknown price  0.31 s',
      '  ✓ load     completed  0.10 s',
      '  ■ draft    cancelled  try 1/3  0.19 s',
      '  ■ publish  cancelled',
    ])
  })

  test('shows who is waited for', () => {
    expect(renderRun(viewAfter(12), canvas).at(-1)).toBe('  ? publish  approval   waits for a person')
  })

  test('counts the items of a fan-out, those that failed too', () => {
    expect(renderRun(liveRun(ANSWER, foldRun(ITEM_EVENTS.slice(0, 6))), canvas)[2]).toBe(
      '  ● draft    running    2/14 items, 1 failed  try 1/3  0.35 s',
    )
  })

  test('counts those that never began, since too many others failed', () => {
    const failed = { type: 'block:failed', data: { code: 'items_failed', reason: '1 of 14 items failed' } } as const
    const log = [...ITEM_EVENTS.slice(0, 6), { ...itemEvent(failed, 30), seq: 7 }]
    expect(renderRun(liveRun(ANSWER, foldRun(log)), canvas)[2]).toContain('2/14 items, 1 failed, 12 never begun')
  })

  test('keeps what moves or failed when there is no room for all', () => {
    const lines = renderRun(viewAfter(8), { ...canvas, rows: 4 })
    expect(lines.join('\n')).toContain('draft')
    expect(lines.at(-1)).toBe('  … 1 completed, 1 pending')
    expect(lines.length).toBeLessThanOrEqual(4)
  })

  test('cuts a long name rather than what is said of the run', () => {
    const view = viewAfter(8)
    const named = { ...view, run: { ...view.run, dag_name: 'a-name-that-is-longer-than-the-window-is-wide' } }
    expect(renderRun(named, { ...canvas, columns: 75 })[0]).toBe(
      'a-name-that-is-lon…  running  1/3 blocks  120 tokens  unknown price  0.35 s',
    )
  })

  test('of many blocks shows what moves, and counts the others', () => {
    const state = (i: number) => (i < 120 ? 'completed' : i < 123 ? 'running' : i === 123 ? 'failed' : 'pending')
    const block = (i: number) => [
      `collect-figures-of-country-${i}`,
      { state: state(i), attempt: 1, max_attempts: 1, gates: [] },
    ]
    const blocks = Object.fromEntries(Array.from({ length: 200 }, (_, i) => block(i)))
    const lines = renderRun({ ...viewAfter(3), blocks }, { ...canvas, rows: 23 })
    expect(lines.map((line) => line.trim().replace(/ {2,}.*/, ''))).toEqual([
      'brief',
      '● collect-figu…country-120',
      '● collect-figu…country-121',
      '● collect-figu…country-122',
      '✗ collect-figu…country-123',
      '… 120 completed, 76 pending',
    ])
  })

  test('says the same with and without colour, and fits any width and height', () => {
    const sizes = fc.tuple(fc.integer({ min: 10, max: 120 }), fc.integer({ min: 4, max: 12 }), fc.nat(EVENTS.length))
    void fc.assert(
      fc.property(sizes, ([columns, rows, n]) => {
        const plain = renderRun(viewAfter(n), { ...canvas, columns, rows })
        const colored = renderRun(viewAfter(n), { ...canvas, columns, rows, color: true })
        expect(colored.map(stripVTControlCharacters)).toEqual(plain)
        expect(plain.length).toBeLessThanOrEqual(rows)
        for (const line of plain) expect(displayWidth(line)).toBeLessThanOrEqual(columns)
      }),
    )
  })

  test('prints nothing a model wrote as control characters', () => {
    const { blocks, ...rest } = viewAfter(8)
    const draft = {
      state: 'failed',
      attempt: 1,
      max_attempts: 1,
      gates: [],
      error: { code: 'x', reason: 'a\u001b[2Jb\nc' },
    }
    const hostile = { ...rest, blocks: { ...blocks, draft } }
    expect(renderRun(hostile, canvas)[2]).toMatch(/ab c$/)
  })
})
