import type { Command, CommandOptions } from 'commander'
import { asksWaiver } from '../../../shared/runs/approval.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { labelWords } from '../../../shared/runs/labels.ts'
import {
  askedWords,
  changeWarnings,
  outcomeWord,
  pendingApprovals,
  progressLines,
} from '../approvals/question-lines.ts'
import { chooseTarget, commandLine, type Target } from '../server/api.ts'
import { fetchEvents, fetchRun, type RunAnswer } from '../server/fetch-run.ts'
import { type TargetOptions, withReadingOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'
import { artifactLines } from './artifacts.ts'
import { failedLogLines } from './log.ts'
import { renderRun } from './render-run.ts'
import { renderTimeline } from './render-timeline.ts'
import { callLines } from './transcript.ts'

export function addStatus(parent: Command, session: Session, hidden?: CommandOptions): void {
  withReadingOptions(
    parent.command('status', hidden).description('one run: blocks, gates, what it waits for, artifacts'),
  )
    .alias('show')
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
  const logs = failedLogLines(answer, (words) => commandLine(session, target, words))
  const calls = await callLines(target, answer, (words) => commandLine(session, target, words))
  const lines = [
    ...runLines(session, answer),
    ...calls,
    ...logs,
    ...history,
    ...(await artifactLines(session, target, runId)),
  ]
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
    ...(run.labels === undefined ? [] : [oneLine(`Labels: ${labelWords(run.labels)}`)]),
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
    ['Fired by run', run.follows],
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
    const { approval_id, block_id, expires_at } = approval
    const isOnlyOfBlock = open.filter((one) => one.block_id === block_id).length === 1
    const named = isOnlyOfBlock ? ` --block ${block_id}` : ` --approval ${approval_id}`
    const which = open.length > 1 ? named : ''
    const [what, words] = asksWaiver(approval)
      ? ['a waiver of failed gates', `run waive ${run_id}${which} --feedback ".."`]
      : ['approval', `run approve ${run_id}${which}`]
    const line = `${askedWords(approval)} waits for ${what} until ${expires_at}: ${commandLine(session, target, words)}`
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
