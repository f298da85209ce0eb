import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import type { RunFold } from '../../../shared/runs/run-fold.ts'
import { agentItemNames, agentItemWords, readAgentItem } from '../../../shared/runs/turns-and-calls.ts'
import { shownPrice } from '../../../shared/runs/usage-cost.ts'
import type { Target } from '../server/api.ts'
import { type Delta, followEvents, type View } from '../server/event-stream.ts'
import { fetchRun, type RunAnswer } from '../server/fetch-run.ts'
import { count, durationWords } from '../terminal/format.ts'
import { type Frame, redraw } from '../terminal/redraw.ts'
import { type ExitCode, Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { cut, oneLine } from '../terminal/text.ts'
import { eventLine, timedLine } from './events.ts'
import { renderRun } from './render-run.ts'
import { endedCallLine } from './transcript.ts'

interface Watch {
  readonly runId: string
  /** Shows nothing; what is noted goes to stderr with `notes`, else nowhere. */
  readonly quiet?: { readonly notes: boolean } | undefined
  readonly signal?: AbortSignal
  /** Called for each event after it is shown; the next one waits for it. */
  onEvent?(event: RunEvent, view: View): Promise<void> | void
}

/** Follows a run to its end and answers how it is then: on a terminal redrawn in place, elsewhere a line an event. */
export async function watchRun(session: Session, target: Target, watch: Watch): Promise<RunAnswer> {
  const { runId, signal } = watch
  const screen = openScreen(session, await fetchRun(target, runId), watch.quiet)
  const names = agentItemNames()
  try {
    const follow = { runId, onDelta: screen.hear, ...(signal && { signal }) }
    for await (const event of followEvents(target, follow)) {
      const name = names(event)
      screen.show(event, name)
      if (watch.quiet === undefined && isEndOfCall(event, name)) screen.note(await callLineOf(target, event))
      await watch.onEvent?.(event, screen)
    }
  } finally {
    screen.close()
  }
  return await fetchRun(target, runId)
}

const CALL_ENDS: ReadonlySet<string> = new Set(['block:completed', 'block:failed'])

/** `name`: of the turn or call it is about. */
function isEndOfCall({ type, item }: RunEvent, name: string | undefined): boolean {
  return name !== undefined && item !== undefined && CALL_ENDS.has(type) && readAgentItem(item).call !== undefined
}

/** What its events say piece by piece on one line. That it cannot be read is no failure of the run. */
async function callLineOf(target: Target, { run_id, block_id = '', item = 0 }: RunEvent): Promise<string> {
  try {
    return await endedCallLine(target, run_id, block_id, item)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return `${block_id}: ${agentItemWords(item)} ended`
  }
}

interface Screen extends View {
  /** `name`: of an agent's turn or call. */
  show(event: RunEvent, name: string | undefined): void
  /** What a model says meanwhile. */
  readonly hear: (delta: Delta) => void
  close(): void
}

function openScreen(session: Session, answer: RunAnswer, quiet: Watch['quiet']): Screen {
  if (quiet === undefined) return session.live ? liveScreen(session, answer) : plainScreen(session, answer)
  return { show() {}, hear() {}, note: quiet.notes ? session.warn : () => {}, hold: () => () => {}, close() {} }
}

/** Of a call one line says all of these when it has ended. */
const OF_A_CALL: ReadonlySet<string> = new Set(['block:started', 'block:output', ...CALL_ENDS])

function plainScreen(session: Session, { run }: RunAnswer): Screen {
  const fanOuts = openFanOuts()
  const { say, hold } = holdable(session.say)
  return {
    show(event, item) {
      if (item !== undefined && OF_A_CALL.has(event.type) && readAgentItem(event.item ?? 0).call !== undefined) return
      const counted = fanOuts.lineOf(event)
      const start = Date.parse(run.started_at ?? event.at)
      const line = counted === undefined ? eventLine(event, start, { item }) : timedLine(event, start, counted)
      if (counted !== '' && line !== undefined) say(line)
    },
    // A log has what was recorded.
    hear() {},
    note: say,
    hold,
    close() {},
  }
}

/** Lines that come while it is held are said, in their order, when it is let go. */
function holdable(say: (text: string) => void): Pick<Screen, 'hold'> & { say(text: string): void } {
  let held: string[] | undefined
  return {
    say: (text) => (held === undefined ? say(text) : void held.push(text)),
    hold() {
      held ??= []
      return () => {
        for (const text of held ?? []) say(text)
        held = undefined
      }
    },
  }
}

/** Redraws ten times a second, however many events came since; elapsed times move on without any. */
function liveScreen(session: Session, answer: RunAnswer): Screen {
  let drawn: Frame = { lines: [], columns: 0 }
  let news: RunEvent[] = []
  let fold = foldRun([])
  let held: string[] | undefined
  const voices = openVoices()
  const draw = (above = '') => {
    if (held !== undefined) return void (above !== '' && held.push(above))
    fold = foldRun(news, fold)
    news = []
    const { columns, rows } = session.size()
    const said = voices.lines(columns)
    const canvas = { columns, rows: rows - 1 - said.length, color: session.settings.color, now: Date.now() }
    const next = { lines: [...renderRun(liveRun(answer, fold), canvas), ...said], columns }
    const text = redraw(drawn, next, above)
    if (text !== '') void session.write(text)
    drawn = next
  }
  const timer = setInterval(draw, 100)
  return {
    show: (event) => {
      news.push(event)
      voices.end(event)
    },
    hear: voices.hear,
    note: draw,
    // What is drawn stays where it is: what is asked stands below it, and below that it is drawn anew.
    hold() {
      draw()
      held ??= []
      return () => {
        const above = held?.join('\n')
        held = undefined
        drawn = { lines: [], columns: 0 }
        draw(above)
      }
    },
    close() {
      clearInterval(timer)
      draw()
    },
  }
}

/** Models that are heard at once, the last that began. */
const MOST_VOICES = 3
const KEPT = 2_000

/** The last words of each model that speaks, a line each, until its answer is recorded. */
function openVoices() {
  const voices = new Map<string, { readonly who: string; readonly question: string; readonly text: string }>()
  const keyOf = (of: { readonly block_id?: string | undefined; readonly item?: number | undefined }) =>
    `${of.block_id ?? ''}.${of.item ?? ''}`
  return {
    hear: (delta: Delta) => {
      const { block_id, epoch, attempt } = delta
      const question = `${epoch} ${attempt} ${delta.question}`
      const before = voices.get(keyOf(delta))
      const text = `${before?.question === question ? before.text : ''}${delta.text}`.slice(-KEPT)
      voices.set(keyOf(delta), { who: block_id, question, text })
    },
    end: (event: RunEvent) => void (event.type.startsWith('block:') && voices.delete(keyOf(event))),
    lines: (columns: number) =>
      [...voices.values()].slice(-MOST_VOICES).map(({ who, text }) => {
        const start = `  ${oneLine(who)} says: `
        const room = Math.max(columns - start.length - 2, 10)
        const words = oneLine(text)
        return cut(`${start}${words.length > room ? `…${words.slice(-room)}` : words}`, columns)
      }),
  }
}

/** Lists longer than this get no line an item: one with a count says how far each is. */
const LONG_LIST = 10
/** Between two such lines of one list, by the time of its events. */
const COUNT_EVERY_MS = 60_000

interface FanOut {
  readonly block: string
  readonly count: number
  ended: number
  failed: number
  /** When it was last told, ms. */
  told: number
}

/** Items of long lists, counted as they end. */
export function openFanOuts() {
  const lists = new Map<string, FanOut>()
  return {
    /** What to say of an event instead of its own words; empty: nothing. Undefined: it is of no long list. */
    lineOf(event: RunEvent): string | undefined {
      const { type, block_id = '', item, at } = event
      if (item === undefined) {
        if (type === 'block:started') lists.set(block_id, fanOutOf(block_id, event.data.items, at))
        return undefined
      }
      const list = lists.get(block_id)
      return list === undefined || list.count <= LONG_LIST ? undefined : countLine(list, event)
    },
  }
}

/** Of an agent nobody knows how much it will do, and each call is worth a line. */
function fanOutOf(
  block: string,
  items: { readonly count: number; readonly turn?: number | undefined } | undefined,
  at: string,
): FanOut {
  const isList = items !== undefined && items.turn === undefined
  return { block, count: isList ? items.count : 0, ended: 0, failed: 0, told: Date.parse(at) }
}

/** Each minute, and when the last one has ended. */
function countLine(list: FanOut, { type, at }: RunEvent): string {
  if (!CALL_ENDS.has(type)) return ''
  list.ended += 1
  if (type === 'block:failed') list.failed += 1
  const now = Date.parse(at)
  if (list.ended < list.count && now - list.told < COUNT_EVERY_MS) return ''
  list.told = now
  const failed = list.failed === 0 ? '' : `, ${list.failed} failed`
  return oneLine(`${list.block}: ${list.ended}/${count(list.count, 'item')}${failed}`)
}

/** The run as it is now: what GET run said once (blocks in document order, their tries) and what its events tell since. */
export function liveRun(answer: RunAnswer, fold: RunFold): RunAnswer {
  const { blocks: known, steps, state, tokens, started_at, ended_at, reason } = fold
  const times = { ...(started_at && { started_at }), ...(ended_at && { ended_at }), ...(reason && { reason }) }
  const blocks = Object.entries(answer.blocks).map(([id, { max_attempts }]): [string, RunAnswer['blocks'][string]] => {
    const block = Object.hasOwn(known, id) ? known[id] : undefined
    // The end of a run cancels also the blocks no event ever named.
    const unseen = { state: state === 'running' ? 'pending' : 'cancelled', attempt: 0, gates: [] }
    return [id, { ...(block ?? unseen), max_attempts }]
  })
  const { run_id, dag_name } = answer.run
  return {
    run: { run_id, dag_name, state, tokens, ...shownPrice(fold), ...times },
    blocks: Object.fromEntries(blocks),
    steps: steps.map((step) => ({ ...step })),
    approvals: answer.approvals,
    dag: answer.dag,
  }
}

/** 0 completed (or continued in a linked run), 3 partial or blocked, 1 every other end. */
export function runExitCode(state: string): ExitCode {
  if (state === 'completed' || state === 'iterated') return 0
  return state === 'partial' || state === 'blocked' ? 3 : 1
}

/** One sentence on how a run ended. */
export function endWords({ run, blocks, steps }: RunAnswer): string {
  const took = durationWords(Date.parse(run.ended_at ?? '') - Date.parse(run.started_at ?? ''))
  const done = `${count(Object.keys(blocks).length, 'block')}, ${count(steps.length, 'attempt')}`
  const why = run.state === 'completed' || run.reason === undefined ? '' : `: ${oneLine(run.reason)}`
  const next = run.next_run === undefined ? '' : `. It goes on as ${oneLine(run.next_run)}`
  return `Run ${run.run_id} ${run.state} in ${took} (${done})${why}${next}`
}
