import { stripVTControlCharacters } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { renderRun } from '../../../clients/cli/render-run.ts'
import { applyEvent, newRunView } from '../../../clients/cli/run-view.ts'
import { ANSWER, EVENTS, START } from './run-events-sample.ts'

const viewAfter = (n: number) => EVENTS.slice(0, n).reduce(applyEvent, newRunView(ANSWER))
const canvas = { columns: 80, rows: 20, color: false, now: START + 350 }

describe('renderRun()', () => {
  test('shows state, tries, gates and elapsed time of every block', () => {
    expect(renderRun(viewAfter(8), canvas)).toEqual([
      'brief  running  1/3 blocks  120 tokens  0.35 s',
      '  ✓ load     completed  0.10 s',
      '  ↻ draft    retrying   try 1/3  1 of 1 gate failed  0.23 s  long-enough failed',
      '  · publish  pending',
    ])
  })

  test('shows who is waited for', () => {
    expect(renderRun(viewAfter(12), canvas).at(-1)).toBe('  ? publish  approval   waits for a person')
  })

  test('keeps what moves or failed when there is no room for all', () => {
    const lines = renderRun(viewAfter(8), { ...canvas, rows: 4 })
    expect(lines.join('\n')).toContain('draft')
    expect(lines.at(-1)).toBe('  … and 2 more blocks')
    expect(lines.length).toBeLessThanOrEqual(4)
  })

  test('says the same with and without colour, and fits any width and height', () => {
    const sizes = fc.tuple(fc.integer({ min: 10, max: 120 }), fc.integer({ min: 4, max: 12 }), fc.nat(EVENTS.length))
    void fc.assert(
      fc.property(sizes, ([columns, rows, n]) => {
        const plain = renderRun(viewAfter(n), { ...canvas, columns, rows })
        const colored = renderRun(viewAfter(n), { ...canvas, columns, rows, color: true })
        expect(colored.map(stripVTControlCharacters)).toEqual(plain)
        expect(plain.length).toBeLessThanOrEqual(rows)
        for (const line of plain) expect([...line].length).toBeLessThanOrEqual(columns)
      }),
    )
  })

  test('prints nothing a model wrote as control characters', () => {
    const view = viewAfter(8)
    const draft = view.blocks.get('draft')
    if (draft === undefined) throw new Error('the sample has a block draft')
    const hostile = { ...view, blocks: new Map(view.blocks).set('draft', { ...draft, note: 'a\u001b[2Jb\nc' }) }
    expect(renderRun(hostile, canvas)[2]).toMatch(/ab c$/)
  })
})
