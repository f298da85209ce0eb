import { type Command, type CommandOptions, InvalidArgumentError } from 'commander'
import type { RunEvent } from '../../shared/runs/event.ts'
import { chooseTarget, type Target } from './api.ts'
import { eventLine } from './event-line.ts'
import { fetchEvents, fetchRun } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface EventsOptions extends TargetOptions {
  readonly since: number
}

export function addEvents(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('events', hidden).description('the stored events of a run; --json prints one a line'))
    .argument('<run-id>')
    .option('--since <seq>', 'only events after this one', readSeq, 0)
    .action((runId: string, options: EventsOptions) => printEvents(session, runId, options))
}

async function printEvents(session: Session, runId: string, { url, json, since }: EventsOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const events = await fetchEvents(target, runId, since)
  const said = json === true ? new Map() : await feedbackOf(target, runId, events)
  const start = Date.parse(events[0]?.at ?? '')
  for (const event of events) {
    const line = json === true ? jsonText(event) : eventLine(event, start, said.get(event.seq))
    if (line !== undefined) await session.write(`${json === true ? '' : `${String(event.seq).padStart(4)} `}${line}\n`)
  }
}

/** An event holds only a ref of what a person said: GET run has the words. */
async function feedbackOf(target: Target, runId: string, events: readonly RunEvent[]) {
  const said = new Map<number, string>()
  const decided = events.filter((event) => event.type === 'approval:decided')
  if (decided.every(({ data }) => data.feedback_ref === undefined)) return said
  const { approvals } = await fetchRun(target, runId)
  for (const { seq, data } of decided) {
    const feedback = approvals.find(({ approval_id }) => approval_id === data.approval_id)?.feedback
    if (feedback !== undefined) said.set(seq, feedback)
  }
  return said
}

function readSeq(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('A seq is a whole number from 0.')
}
