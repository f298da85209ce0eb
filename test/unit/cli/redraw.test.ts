import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Frame, redraw } from '../../../clients/cli/terminal/redraw.ts'

const frame = (...lines: readonly string[]): Frame => ({ lines, columns: 80 })

const ESC = '\u001b'

/** The screen of a terminal with as many rows as it takes: what our sequences do, and nothing else. */
function terminal() {
  const rows: string[] = []
  let row = 0
  let written = 0
  const does: Readonly<Record<string, (n: number) => void>> = {
    A: (n) => {
      row -= n
    },
    J: () => rows.splice(row),
    K: () => rows.splice(row, 1, (rows[row] ?? '').slice(0, written)),
    h() {},
    l() {},
  }
  const print = (piece: string) => {
    rows[row] = piece + (rows[row] ?? '').slice(piece.length)
    written = piece.length
  }
  const newLine = () => {
    rows[row] ??= ''
    row += 1
    written = 0
  }
  const put = (piece: string) => {
    if (piece === '\n') newLine()
    else if (piece !== '') print(piece)
  }
  const write = (text: string) => {
    for (const part of text.replaceAll('\r', '').split(ESC)) {
      const [all = '', n = '', what = ''] = /^\[\??(\d*)([A-Za-z])/.exec(part) ?? []
      does[what]?.(Number(n))
      part.slice(all.length).split(/(\n)/).forEach(put)
    }
  }
  return { write, lines: () => rows.slice(0, row) }
}

describe('redraw()', () => {
  test('writes nothing when nothing changed', () => expect(redraw(frame('a', 'b'), frame('a', 'b'))).toBe(''))

  test('writes only the lines that changed, in one synchronized update', () => {
    const text = redraw(frame('head 1 s', 'one', 'two'), frame('head 2 s', 'one', 'two'))
    expect(text.startsWith(`${ESC}[?2026h`) && text.endsWith(`${ESC}[?2026l`)).toBe(true)
    expect(text).toContain('head 2 s')
    expect(text).not.toContain('one')
  })

  test('leaves exactly the last frame on the screen, below what was noted', () => {
    const line = fc.constantFrom('', 'a', 'bb', 'a longer line', 'another one')
    const step = fc.record({ lines: fc.array(line, { maxLength: 5 }), above: fc.constantFrom('', '', 'noted') })
    void fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const screen = terminal()
        const notes: string[] = []
        let drawn: Frame = { lines: [], columns: 0 }
        for (const { lines, above } of steps) {
          const next = frame(...lines)
          screen.write(redraw(drawn, next, above))
          if (above !== '') notes.push(above)
          drawn = next
        }
        expect(screen.lines()).toEqual([...notes, ...drawn.lines])
      }),
    )
  })

  test('climbs over lines a narrower terminal has wrapped', () => {
    const text = redraw({ lines: ['x'.repeat(70), 'short'], columns: 80 }, { lines: ['y'], columns: 40 })
    expect(text).toContain(`${ESC}[3A\r${ESC}[0J`)
  })
})
