import type { Command, CommandOptions } from 'commander'
import { chooseTarget } from './api.ts'
import { artifactLines } from './artifacts.ts'
import { fetchEvents, fetchRun } from './fetch-run.ts'
import { pendingApprovals } from './pending-approvals.ts'
import { oneLine } from './plain-text.ts'
import { renderRun } from './render-run.ts'
import { renderTimeline } from './render-timeline.ts'
import { applyEvent, newRunView } from './run-view.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

export function addStatus(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('status', hidden).description('one run: blocks, gates, what it waits for, artifacts'))
    .argument('<run-id>')
    .option('--timeline', 'draw when each attempt ran')
    .action((runId: string, options: StatusOptions) => status(session, runId, options))
}

interface StatusOptions extends TargetOptions {
  readonly timeline?: true
}

async function status(session: Session, runId: string, options: StatusOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  const answer = await fetchRun(target, runId)
  if (options.json === true) return session.say(JSON.stringify(answer, null, 2))
  const events = await fetchEvents(target, runId)
  const view = events.reduce(applyEvent, newRunView(answer))
  const { columns } = session.size()
  const canvas = { columns, rows: Number.POSITIVE_INFINITY, color: session.settings.color, now: Date.now() }
  session.say(answer.run.run_id)
  for (const line of renderRun(view, canvas)) session.say(line)
  if (view.reason !== undefined) session.say(oneLine(view.reason))
  if (options.timeline === true) for (const line of renderTimeline(events, columns)) session.say(line)
  for (const line of await artifactLines(target, runId)) session.say(line)
  for (const { block_id, expires_at } of pendingApprovals(answer)) {
    session.say(`Block ${block_id} waits for approval until ${expires_at}: sluice run approve ${runId}`)
  }
}
