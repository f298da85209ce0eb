import type { Command, CommandOptions } from 'commander'
import { chooseTarget, type Target } from './api.ts'
import { artifactLines } from './artifacts.ts'
import { fetchEvents, fetchRun } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import { renderTimeline } from './render-timeline.ts'
import { runLines } from './run-lines.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { verdictLines } from './verdict-lines.ts'
import { waitingLines } from './waiting-lines.ts'

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
