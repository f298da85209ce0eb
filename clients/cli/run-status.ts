import type { Command, CommandOptions } from 'commander'
import { chooseTarget, type Target } from './api.ts'
import { artifactLines } from './artifacts.ts'
import { isWaiver, progressLines } from './asked-lines.ts'
import { commandLine } from './command-line.ts'
import { type Approval, fetchEvents, fetchRun } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import { pendingApprovals } from './pending-approvals.ts'
import { renderTimeline } from './render-timeline.ts'
import { runLines } from './run-lines.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { verdictLines } from './verdict-lines.ts'

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
  for (const approval of pendingApprovals(answer)) {
    for (const line of waitingLines(approval, (words) => commandLine(session, target, words), runId)) session.say(line)
  }
}

/** Until when people are asked, how far they are, and how to decide. */
function waitingLines(approval: Approval, command: (words: string) => string, runId: string): readonly string[] {
  const { block_id, expires_at } = approval
  const decide = isWaiver(approval) ? `run waive ${runId} --feedback ".."` : `run approve ${runId}`
  const what = isWaiver(approval) ? 'a waiver of failed gates' : 'approval'
  return [`Block ${block_id} waits for ${what} until ${expires_at}: ${command(decide)}`, ...progressLines(approval)]
}

async function historyLines(session: Session, target: Target, runId: string, { timeline, gates }: StatusOptions) {
  if (timeline !== true && gates !== true) return []
  const events = await fetchEvents(target, runId)
  const drawn = timeline === true ? renderTimeline(events, session.size().columns, Date.now()) : []
  return gates === true ? [...drawn, ...verdictLines(events)] : drawn
}
