import type { Command, CommandOptions } from 'commander'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import type { RunFold } from '../../../shared/runs/run-fold.ts'
import { agentItemNames, agentItemWords, readAgentItem } from '../../../shared/runs/turns-and-calls.ts'
import { shownPrice } from '../../../shared/runs/usage-cost.ts'
import { chooseTarget, commandLine, type Target } from '../server/api.ts'
import { type Delta, followEvents } from '../server/event-stream.ts'
import { fetchRun, type RunAnswer } from '../server/fetch-run.ts'
import { count, durationWords } from '../terminal/format.ts'
import { type TargetOptions, withTargetOptions } from '../terminal/options.ts'
import { type Frame, redraw } from '../terminal/redraw.ts'
import { type ExitCode, Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { cut, jsonText, oneLine } from '../terminal/text.ts'
import { artifactLines } from './artifacts.ts'
import { eventLine } from './events.ts'
import { failedLogLines } from './log.ts'
import { sinkTexts } from './outputs.ts'
import { renderRun } from './render-run.ts'
import { endedCallLine } from './transcript.ts'

export function addWatch(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTargetOptions(
    parent.command('watch', hidden).description('follow a run to its end; --json prints an event a line'),
  )
    .argument('<run-id>')
    .action((runId: string, options: TargetOptions) => watch(session, runId, options))
}

async function watch(session: Session, runId: string, options: TargetOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  if (options.json !== true) {
    const ended = await watchRun(session, target, { runId })
    const more = (block: string) => commandLine(session, target, `run output ${runId} ${block}`)
    const logs = failedLogLines(ended, (words) => commandLine(session, target, words))
    const left = [...(await sinkTexts(target, ended, more)), ...(await artifactLines(session, target, runId))]
    for (const line of [endWords(ended), ...logs, ...left]) session.say(line)
    process.exitCode = runExitCode(ended.run.state)
    return
  }
  let last = ''
  for await (const event of followEvents(target, { runId })) {
    last = event.type
    await session.write(`${jsonText(event)}\n`)
  }
  process.exitCode = runExitCode(last.slice('run:'.length))
}

interface Watch {
  readonly runId: string
  /** Shows nothing. */
  readonly quiet?: boolean
  readonly signal?: AbortSignal
  /** Called for each event after it is shown; the next one waits for it. `note` prints lines above the view. */
  onEvent?(event: RunEvent, note: (text: string) => void): Promise<void> | void
}

/** Follows a run to its end and answers how it is then: on a terminal redrawn in place, elsewhere a line an event. */
export async function watchRun(session: Session, target: Target, watch: Watch): Promise<RunAnswer> {
  const { runId, signal } = watch
  const screen = openScreen(session, await fetchRun(target, runId), watch.quiet === true)
  const names = agentItemNames()
  try {
    const follow = { runId, onDelta: screen.hear, ...(signal && { signal }) }
    for await (const event of followEvents(target, follow)) {
      const name = names(event)
      screen.show(event, name)
      if (watch.quiet !== true && isEndOfCall(event, name)) screen.note(await callLineOf(target, event))
      await watch.onEvent?.(event, screen.note)
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

interface Screen {
  /** `name`: of an agent's turn or call. */
  show(event: RunEvent, name: string | undefined): void
  /** What a model says meanwhile. */
  readonly hear: (delta: Delta) => void
  note(text: string): void
  close(): void
}

function openScreen(session: Session, answer: RunAnswer, quiet: boolean): Screen {
  if (quiet) return { show() {}, hear() {}, note() {}, close() {} }
  return session.live ? liveScreen(session, answer) : plainScreen(session, answer)
}

/** Of a call one line says all of these when it has ended. */
const OF_A_CALL: ReadonlySet<string> = new Set(['block:started', 'block:output', ...CALL_ENDS])

function plainScreen(session: Session, { run }: RunAnswer): Screen {
  return {
    show(event, item) {
      if (item !== undefined && OF_A_CALL.has(event.type) && readAgentItem(event.item ?? 0).call !== undefined) return
      const line = eventLine(event, Date.parse(run.started_at ?? event.at), { item })
      if (line !== undefined) session.say(line)
    },
    // A log has what was recorded.
    hear() {},
    note: session.say,
    close() {},
  }
}

/** Redraws ten times a second, however many events came since; elapsed times move on without any. */
function liveScreen(session: Session, answer: RunAnswer): Screen {
  let drawn: Frame = { lines: [], columns: 0 }
  let news: RunEvent[] = []
  let fold = foldRun([])
  const voices = openVoices()
  const draw = (above = '') => {
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
