import { stripVTControlCharacters } from 'node:util'
import { displayWidth } from './text.ts'

/** What stands on the screen: lines without their ends, drawn when it was that wide. */
export interface Frame {
  readonly lines: readonly string[]
  readonly columns: number
}

/**
 * What turns one frame into the next; the cursor stands on the line below. Only lines that changed are written, all at
 * once where the terminal knows synchronized updates. Wrapping is off meanwhile: a character wider than it counts for
 * must not add a line to climb over. `above` is kept: it stands above the frame from then on. Empty = nothing changed.
 */
export function redraw(drawn: Frame, next: Frame, above = ''): string {
  const isSame = drawn.columns === next.columns && above === ''
  const body = isSame
    ? changedLines(drawn.lines, next.lines)
    : `${erase(drawn, next.columns)}${kept(above)}${whole(next)}`
  return body === '' ? '' : `${BEGIN}${body}${END}`
}

/** Synchronized update (DEC 2026), and no wrapping (DECAWM). */
const BEGIN = '\u001b[?2026h\u001b[?7l'

const END = '\u001b[?7h\u001b[?2026l'

const ERASE_TO_END_OF_LINE = '\u001b[K'

const ERASE_BELOW = '\u001b[0J'

function changedLines(before: readonly string[], after: readonly string[]): string {
  if (before.length === after.length && before.every((line, i) => line === after[i])) return ''
  const lines = after.map((line, i) => (line === before[i] ? '' : `${line}${ERASE_TO_END_OF_LINE}`))
  return `${up(before.length)}\r${lines.map((line) => `${line}\n`).join('')}${before.length > after.length ? ERASE_BELOW : ''}`
}

/** A terminal that became narrower has wrapped the lines of the old frame. */
function erase({ lines }: Frame, columns: number): string {
  const rows = lines.map((line) => Math.max(Math.ceil(displayWidth(stripVTControlCharacters(line)) / columns), 1))
  return `${up(rows.reduce((total, one) => total + one, 0))}\r${ERASE_BELOW}`
}

/** Words for people may be longer than a line: they wrap. */
function kept(above: string): string {
  return above === '' ? '' : `\u001b[?7h${above}\n\u001b[?7l`
}

function whole({ lines }: Frame): string {
  return lines.map((line) => `${line}\n`).join('')
}

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : ''
}
