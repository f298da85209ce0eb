import { styleText } from 'node:util'
import { waitWords } from '../../../shared/runs/event-types.ts'
import { agentCounts, agentCountWords } from '../../../shared/runs/turns-and-calls.ts'
import type { RunAnswer } from '../server/fetch-run.ts'
import { costWords, count, durationWords, skipWords } from '../terminal/format.ts'
import { cut, cutMiddle, displayWidth, oneLine } from '../terminal/text.ts'

/** How much room there is, and the time for what still runs (milliseconds since 1970). */
interface Canvas {
  readonly columns: number
  /** Lines the answer may have; blocks that do not fit are counted instead. */
  readonly rows: number
  readonly color: boolean
  readonly now: number
}

/** Icon and word of each block state; colour only repeats what they say. `order`: what to keep when room is short. */
const STATES = {
  paused_approval: { icon: '?', word: 'approval', color: 'magenta', order: 0 },
  failed: { icon: '✗', word: 'failed', color: 'red', order: 1 },
  running: { icon: '●', word: 'running', color: 'cyan', order: 2 },
  retrying: { icon: '↻', word: 'retrying', color: 'yellow', order: 3 },
  ready: { icon: '○', word: 'ready', color: 'gray', order: 4 },
  completed: { icon: '✓', word: 'completed', color: 'green', order: 5 },
  cancelled: { icon: '■', word: 'cancelled', color: 'yellow', order: 6 },
  skipped: { icon: '–', word: 'skipped', color: 'gray', order: 7 },
  pending: { icon: '·', word: 'pending', color: 'gray', order: 8 },
} as const

type Block = RunAnswer['blocks'][string] & { readonly id: string }

/** The run as lines that each fit the width: a head, then a line a block, in document order. */
export function renderRun(answer: RunAnswer, canvas: Canvas): readonly string[] {
  const blocks = Object.entries(answer.blocks).map(([id, block]): Block => ({ ...block, id }))
  const { shown, hidden } = fitting(blocks, Math.max(canvas.rows - 2, 1))
  const widest = Math.min(Math.max(Math.floor(canvas.columns * 0.3), 5), 24)
  const width = Math.min(Math.max(...shown.map(({ id }) => id.length), 5), widest)
  const more = hidden.length > 0 ? [cut(`  … ${stateCounts(hidden)}`, canvas.columns)] : []
  return [headLine(answer, canvas), ...shown.map((block) => blockLine(block, width, canvas)), ...more]
}

function headLine({ run, blocks }: RunAnswer, { columns, now }: Canvas): string {
  const all = Object.values(blocks)
  const done = all.filter(({ state }) => state === 'completed').length
  const tokens = run.tokens > 0 ? [count(run.tokens, 'token')] : []
  const facts = [run.state, `${done}/${all.length} blocks`, ...tokens, costWords(run), timeWords(run, now)]
  const said = facts.filter((fact) => fact !== '').join('  ')
  const room = Math.max(columns - displayWidth(said) - 2, NAME_AT_LEAST)
  return cut(`${cut(oneLine(run.dag_name), room)}  ${said}`, columns)
}

/** Columns of the name of a DAG, however much is said after it. */
const NAME_AT_LEAST = 8

/** When there is no room for all: only what waits, failed or moves, the most urgent first; the others are counted. */
function fitting(blocks: readonly Block[], room: number) {
  if (blocks.length <= room) return { shown: blocks, hidden: [] }
  const moving = blocks.filter((block) => stateOf(block).order <= STATES.ready.order)
  const kept = new Set(moving.toSorted((a, b) => stateOf(a).order - stateOf(b).order).slice(0, room))
  return { shown: blocks.filter((block) => kept.has(block)), hidden: blocks.filter((block) => !kept.has(block)) }
}

/** `120 completed, 76 pending`, the most urgent first. */
function stateCounts(blocks: readonly Block[]): string {
  const states = blocks.map(stateOf).toSorted((a, b) => a.order - b.order)
  const words = new Set(states.map(({ word }) => word))
  return [...words].map((word) => `${states.filter((state) => state.word === word).length} ${word}`).join(', ')
}

/** A newer server's state is shown by its own name. */
function stateOf({ state }: Block) {
  const known = Object.hasOwn(STATES, state) ? STATES[state as keyof typeof STATES] : undefined
  return known ?? { icon: ' ', word: oneLine(state), color: 'gray' as const, order: 4 }
}

function blockLine(block: Block, width: number, { columns, color, now }: Canvas): string {
  const { icon, word, color: name } = stateOf(block)
  const again = againWords(block, now)
  const time = again === '' ? timeWords(block, now) : ''
  const facts = [
    itemWords(block),
    progressWords(block),
    attemptWords(block),
    again,
    gateWords(block),
    time,
    noteWords(block),
  ]
  const left = `  ${icon} ${padded(cutMiddle(block.id, width), width)}  `
  const right = facts.filter((fact) => fact !== '').join('  ')
  const line = cut(`${left}${word.padEnd(9)}  ${right}`.trimEnd(), columns)
  if (!color || !line.startsWith(left + word)) return line
  return `${left}${styleText(name, word, { validateStream: false })}${line.slice(left.length + word.length)}`
}

function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(columns - displayWidth(text), 0))
}

/** Said only where there was, or may be, more than one try. */
function attemptWords({ attempt, max_attempts, untried = 0 }: Block): string {
  const tries = attempt - untried
  const tried = tries === 0 || max_attempts === 1 ? [] : [`try ${tries}/${max_attempts}`]
  return [...tried, ...(untried === 0 ? [] : [`${count(untried, 'attempt')} not counted`])].join(', ')
}

/** Of a foreach block: how many items have ended, and how; of an agent its turns and calls. */
function itemWords(block: Block): string {
  const acts = agentCounts(block)
  if (acts !== undefined) return agentCountWords(acts)
  const { item_count, items = {} } = block
  if (item_count === undefined) return ''
  const states = Object.values(items).map(({ state }) => state)
  const failed = states.filter((state) => state === 'failed').length
  const skipped = states.filter((state) => state === 'skipped').length
  const done = states.filter((state) => state === 'completed').length + failed
  const ends = `${failed === 0 ? '' : `, ${failed} failed`}${skipped === 0 ? '' : `, ${skipped} never begun`}`
  return `${done}/${count(item_count, 'item')}${ends}`
}

/** How far its step said it is. */
function progressWords({ state, progress }: Block): string {
  if (state !== 'running' || progress === undefined) return ''
  return oneLine(`${Math.round(progress.fraction * 100)} % ${progress.note}`).trimEnd()
}

function gateWords({ gates }: Block): string {
  const all = count(gates.length, 'gate')
  const waived = gates.filter(({ status }) => status === 'waived').length
  const bad = gates.filter(({ status }) => status !== 'passed').length - waived
  if (gates.length === 0) return ''
  if (bad > 0) return `${bad} of ${all} failed${waived > 0 ? `, ${waived} waived` : ''}`
  return waived > 0 ? `${waived} of ${all} waived` : all
}

function timeWords(part: { started_at?: string | undefined; ended_at?: string | undefined }, now: number): string {
  if (part.started_at === undefined) return ''
  const end = part.ended_at === undefined ? now : Date.parse(part.ended_at)
  return durationWords(end - Date.parse(part.started_at))
}

/** Why it failed, waits or was left out, or which run does its work or did it; what went wrong on the way does not matter once it completed. */
function noteWords({ state, error, because, condition, child, cached_from, wait }: Block): string {
  if (state === 'paused_approval') return 'waits for a person'
  if (wait !== undefined && wait.ended_at === undefined && state === 'running')
    return `waits for ${oneLine(waitWords(wait))} until ${wait.until}`
  if (because !== undefined) return skipWords(because, condition)
  if (state !== 'completed' && error !== undefined) return oneLine(error.reason)
  if (cached_from !== undefined) return `result of ${oneLine(cached_from)}`
  return child === undefined ? '' : `child ${oneLine(child)}`
}

/** Between two tries, instead of how long the last one took. Only a watched run knows when the next one begins. */
function againWords({ state, due_at }: Block, now: number): string {
  const wait = state === 'retrying' && typeof due_at === 'string' ? Date.parse(due_at) - now : Number.NaN
  return wait > 0 ? `again in ${durationWords(wait)}` : ''
}
