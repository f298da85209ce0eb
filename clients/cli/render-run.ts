import { styleText } from 'node:util'
import type { BlockState } from '../../shared/runs/run-store.ts'
import { cut, oneLine } from './plain-text.ts'
import type { BlockView, RunView } from './run-view.ts'
import { count, durationWords } from './words.ts'

/** How much room there is, and the time for what still runs (milliseconds since 1970). */
export interface Canvas {
  readonly columns: number
  /** Lines the answer may have; blocks that do not fit are counted instead. */
  readonly rows: number
  readonly color: boolean
  readonly now: number
}

/** Icon and word of each state; colour only repeats what they say. */
export const STATES: Readonly<
  Record<BlockState, { readonly icon: string; readonly word: string; readonly color: Color }>
> = {
  pending: { icon: '·', word: 'pending', color: 'gray' },
  ready: { icon: '○', word: 'ready', color: 'gray' },
  running: { icon: '●', word: 'running', color: 'cyan' },
  retrying: { icon: '↻', word: 'retrying', color: 'yellow' },
  paused_approval: { icon: '?', word: 'approval', color: 'magenta' },
  completed: { icon: '✓', word: 'completed', color: 'green' },
  failed: { icon: '✗', word: 'failed', color: 'red' },
  skipped: { icon: '–', word: 'skipped', color: 'gray' },
  cancelled: { icon: '■', word: 'cancelled', color: 'yellow' },
}
type Color = 'gray' | 'cyan' | 'yellow' | 'magenta' | 'green' | 'red'

/** The run as lines that each fit the width: a head, then a line a block. */
export function renderRun(view: RunView, canvas: Canvas): readonly string[] {
  const blocks = [...view.blocks.values()]
  const { shown, hidden } = fitting(blocks, Math.max(canvas.rows - 2, 1))
  const width = Math.min(Math.max(...blocks.map(({ id }) => id.length), 5), 24)
  const more = hidden > 0 ? [cut(`  … and ${count(hidden, 'more block')}`, canvas.columns)] : []
  return [headLine(view, canvas), ...shown.map((block) => blockLine(block, width, canvas)), ...more]
}

function headLine(view: RunView, { columns, now }: Canvas): string {
  const done = [...view.blocks.values()].filter(({ state }) => state === 'completed').length
  const elapsed = view.started_at === undefined ? 0 : (view.ended_at ?? now) - view.started_at
  const cost = view.usd_micros > 0 ? [`$${(view.usd_micros / 1e6).toFixed(4)}`] : []
  const tokens = view.tokens > 0 ? [count(view.tokens, 'token')] : []
  const facts = [view.state, `${done}/${view.blocks.size} blocks`, ...tokens, ...cost, durationWords(elapsed)]
  return cut(`${oneLine(view.dag_name)}  ${facts.join('  ')}`, columns)
}

/** When there is no room for all: what moves or went wrong first, document order kept. */
function fitting(blocks: readonly BlockView[], room: number) {
  if (blocks.length <= room) return { shown: blocks, hidden: 0 }
  const kept = new Set([...blocks].sort((a, b) => URGENCY[a.state] - URGENCY[b.state]).slice(0, room - 1))
  return { shown: blocks.filter((block) => kept.has(block)), hidden: blocks.length - kept.size }
}

const URGENCY: Readonly<Record<BlockState, number>> = {
  paused_approval: 0,
  failed: 1,
  running: 2,
  retrying: 3,
  ready: 4,
  completed: 5,
  cancelled: 6,
  skipped: 7,
  pending: 8,
}

function blockLine(block: BlockView, width: number, { columns, color, now }: Canvas): string {
  const { icon, word, color: name } = STATES[block.state]
  const facts = [attemptWords(block), gateWords(block), timeWords(block, now), noteWords(block)]
  const left = `  ${icon} ${cut(block.id, width).padEnd(width)}  `
  const right = facts.filter((fact) => fact !== '').join('  ')
  const line = cut(`${left}${word.padEnd(9)}  ${right}`, columns).trimEnd()
  if (!color || !line.startsWith(left + word)) return line
  return `${left}${styleText(name, word, { validateStream: false })}${line.slice(left.length + word.length)}`
}

/** Said only where there was, or may be, more than one try. */
function attemptWords({ attempt, max_attempts }: BlockView): string {
  if (attempt === 0 || (attempt === 1 && (max_attempts ?? 1) === 1)) return ''
  return max_attempts === undefined ? `try ${attempt}` : `try ${attempt}/${max_attempts}`
}

function gateWords({ passed, failed }: BlockView): string {
  if (passed + failed === 0) return ''
  return failed === 0 ? count(passed, 'gate') : `${failed} of ${count(passed + failed, 'gate')} failed`
}

function timeWords({ started_at, ended_at }: BlockView, now: number): string {
  return started_at === undefined ? '' : durationWords((ended_at ?? now) - started_at)
}

/** What went wrong once does not matter any more when the block completed. */
function noteWords({ note, state }: BlockView): string {
  return note === undefined || state === 'completed' ? '' : oneLine(note)
}
