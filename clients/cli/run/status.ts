import type { Command, CommandOptions } from 'commander'
import { asksWaiver } from '../../../shared/runs/approval.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { changeWarnings, outcomeWord, pendingApprovals, progressLines } from '../approvals/question.ts'
import { chooseTarget, commandLine, type Target } from '../server/api.ts'
import { fetchEvents, fetchRun, type RunAnswer } from '../server/run-answer.ts'
import { type TargetOptions, withTarget } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { cut, jsonText, oneLine } from '../terminal/text.ts'
import { durationWords } from '../terminal/words.ts'
import { artifactLines } from './artifacts.ts'
import { renderRun } from './render-run.ts'

export function addStatus(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('status', hidden).description('one run: blocks, gates, what it waits for, artifacts'))
    .argument('<run-id>')
    .option('--timeline', 'draw when each attempt ran')
    .option('--gates', 'list every verdict, those of failed attempts too')
    .action((runId: string, options: StatusOptions) => status(session, runId, options))
}

interface StatusOptions extends TargetOptions {
  readonly timeline?: true
  readonly gates?: true
}

async function status(session: Session, runId: string, options: StatusOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  const answer = await fetchRun(target, runId)
  if (options.json === true) return session.say(jsonText(answer, 2))
  const history = await historyLines(session, target, runId, options)
  const lines = [...runLines(session, answer), ...history, ...(await artifactLines(session, target, runId))]
  for (const line of lines) session.say(line)
  for (const line of waitingLines(session, target, answer)) session.say(line)
}

async function historyLines(session: Session, target: Target, runId: string, { timeline, gates }: StatusOptions) {
  if (timeline !== true && gates !== true) return []
  const events = await fetchEvents(target, runId)
  const drawn = timeline === true ? renderTimeline(events, session.size().columns, Date.now()) : []
  return gates === true ? [...drawn, ...verdictLines(events)] : drawn
}

/** A run whole: its blocks, what it waits for or why it ended, what people said. */
function runLines(session: Session, answer: RunAnswer): readonly string[] {
  const { run } = answer
  const { columns } = session.size()
  const canvas = { columns, rows: Number.POSITIVE_INFINITY, color: session.settings.color, now: Date.now() }
  const why = run.waiting_for ?? run.reason
  const parent =
    run.parent === undefined ? [] : [oneLine(`Child of block ${run.parent.block_id} of run ${run.parent.run_id}`)]
  return [
    run.run_id,
    ...parent,
    ...linked(answer),
    ...renderRun(answer, canvas),
    ...judged(answer),
    ...(why === undefined ? [] : [oneLine(why)]),
    ...said(answer),
  ]
}

/** What its gates made of it; `run goal` has each criterion. */
function judged({ run }: RunAnswer): readonly string[] {
  const { final_status, row, goal } = run
  if (final_status === undefined && goal === undefined) return []
  const met = goal === undefined ? [] : [`attempt ${goal.attempt}`, `${goal.met}/${goal.total} criteria`]
  const facts = [final_status ?? 'judged', ...(row === undefined ? [] : [String(row)]), ...met]
  return [oneLine(facts.join(', '))]
}

/** The runs it is linked with. */
function linked({ run }: RunAnswer): readonly string[] {
  const links = [
    ['Continues run', run.continues],
    ['Retries run', run.retry_of],
    ['Takes the place of run', run.iterates],
    ['Goes on as run', run.next_run],
    ['Tries again the goal of run', run.pivots],
    ['Its goal is tried again by run', run.pivoted_by],
    ['Retried by', run.retried_by?.join(', ')],
    ['Continued by', run.continued_by?.join(', ')],
  ]
  return links.flatMap(([words, runs]) => (runs === undefined ? [] : [oneLine(`${words} ${runs}`)]))
}

/** What people said with their decisions, what they changed, and what they waived. */
function said({ approvals }: RunAnswer): readonly string[] {
  return approvals.flatMap((approval) => {
    const { block_id, decided_by = 'nobody', feedback, edits, iterate } = approval
    if (feedback === undefined && edits === undefined && iterate === undefined) return []
    const changed = edits === undefined ? '' : ` with changed inputs ${JSON.stringify(edits)}`
    const again = iterate === undefined ? '' : ', another run goes on'
    return [
      oneLine(
        `Block ${block_id} was ${outcomeWord(approval)} by ${decided_by}${changed}${again}: ${feedback ?? 'nothing was said'}`,
      ),
    ]
  })
}

/** Of each open question: in what its run is not as deployed, until when people are asked, how far they are, and how to decide. */
function waitingLines(session: Session, target: Target, answer: RunAnswer): readonly string[] {
  const { run_id } = answer.run
  const open = pendingApprovals(answer)
  return open.flatMap((approval) => {
    const { block_id, expires_at } = approval
    const which = open.length > 1 ? ` --block ${block_id}` : ''
    const [what, words] = asksWaiver(approval)
      ? ['a waiver of failed gates', `run waive ${run_id}${which} --feedback ".."`]
      : ['approval', `run approve ${run_id}${which}`]
    const line = `Block ${block_id} waits for ${what} until ${expires_at}: ${commandLine(session, target, words)}`
    return [...changeWarnings(approval), line, ...progressLines(approval)]
  })
}

/** Every gate verdict of a run in order, those of attempts that failed too. */
export function verdictLines(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== 'block:gate') return []
    const { gate, status, reason } = event.data
    const attempt = event.attempt === undefined ? '' : ` (attempt ${event.attempt})`
    return [oneLine(`${ICONS[status]} ${event.block_id}${attempt} ${gate} ${status}: ${reason}`).replace(/^/, '  ')]
  })
}

const ICONS = { passed: '✓', failed: '✗', error: '!', waived: '~' } as const

interface Span {
  readonly label: string
  /** Block whose item it is an attempt of. */
  readonly items_of?: string | undefined
  readonly from: number
  readonly isWait: boolean
  to: number
  end: string
}

/**
 * The attempts of a run as bars over its duration, in the order they started, waits for a person as `?`: what ran in
 * parallel, what was tried again, where the time went. Of a foreach block with many items only those that went wrong.
 * What is still open lasts until `now` (milliseconds since 1970).
 * Lines fit `columns`.
 */
export function renderTimeline(events: readonly RunEvent[], columns: number, now: number): readonly string[] {
  const from = Date.parse(events[0]?.at ?? '')
  const spans = spansOf(events, now)
  const to = Math.max(Date.parse(events.at(-1)?.at ?? ''), ...spans.map((span) => span.to))
  if (spans.length === 0) return []
  const label = Math.min(Math.max(...spans.map((span) => span.label.length)), 26)
  const bar = Math.max(columns - label - 28, 10)
  return spans.map((span) => {
    const scale = (at: number) => Math.round(((at - from) / Math.max(to - from, 1)) * (bar - 1))
    const start = scale(span.from)
    const mark = span.isWait ? '?' : '━'
    const drawn = `${' '.repeat(start)}${mark.repeat(Math.max(scale(span.to) - start, 0) + 1)}`.padEnd(bar)
    const time = durationWords(span.to - span.from).padStart(9)
    return cut(`  ${cut(span.label, label).padEnd(label)}  ${drawn}  ${time}  ${span.end}`, columns)
  })
}

/** Every attempt has a row, and so has every wait for a person. */
function spansOf(events: readonly RunEvent[], now: number): readonly Span[] {
  const spans: Span[] = []
  const open = new Map<string, Span>()
  for (const event of events) {
    const label = beginning(event)
    if (label !== undefined) {
      const at = Date.parse(event.at)
      const items_of = event.item === undefined ? undefined : event.block_id
      const span = { label, items_of, from: at, isWait: event.type === 'approval:requested', to: at, end: '' }
      spans.push(span)
      open.set(keyOf(event), span)
    }
    close(open, event)
  }
  for (const span of open.values()) Object.assign(span, { to: now, end: span.isWait ? 'waiting' : 'running' })
  return withoutCrowds(spans)
}

/** More items than this are told by the row of their block; those that did not complete are shown, as many. */
const MOST_ITEMS = 10

function withoutCrowds(spans: readonly Span[]): readonly Span[] {
  const crowds = new Map<string, number>()
  for (const { items_of } of spans) if (items_of !== undefined) crowds.set(items_of, (crowds.get(items_of) ?? 0) + 1)
  const left = new Map<string, number>()
  return spans.filter(({ items_of, end }) => {
    if (items_of === undefined || (crowds.get(items_of) ?? 0) <= MOST_ITEMS) return true
    const shown = left.get(items_of) ?? 0
    if (end === 'completed' || shown >= MOST_ITEMS) return false
    left.set(items_of, shown + 1)
    return true
  })
}

function keyOf(event: RunEvent): string {
  return `${event.block_id ?? ''} ${event.item ?? ''} ${event.type.startsWith('approval:') ? 'approval' : 'attempt'}`
}

/** What a terminal run event leaves open was cancelled by it. */
function close(open: Map<string, Span>, event: RunEvent): void {
  const runEnded = /^run:(?!started)/.test(event.type)
  const end = runEnded ? 'cancelled' : ENDS[event.type]
  if (end === undefined) return
  for (const key of runEnded ? [...open.keys()] : [keyOf(event)]) {
    const span = open.get(key)
    if (span !== undefined) Object.assign(span, { to: Date.parse(event.at), end })
    open.delete(key)
  }
}

function beginning(event: RunEvent): string | undefined {
  if (event.type === 'approval:requested') return `${event.block_id} waits`
  if (event.type !== 'block:started') return undefined
  const { attempt = 1, item } = event
  const label = `${event.block_id}${item === undefined ? '' : `[${item}]`}`
  return attempt === 1 ? label : `${label} try ${attempt}`
}

const ENDS: Readonly<Record<string, string>> = {
  'block:completed': 'completed',
  'block:failed': 'failed',
  'block:retrying': 'retried',
  'approval:decided': 'decided',
  'approval:expired': 'expired',
}
