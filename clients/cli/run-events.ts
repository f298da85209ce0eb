import { type Command, type CommandOptions, InvalidArgumentError } from 'commander'
import { chooseTarget } from './api.ts'
import { eventLine } from './event-line.ts'
import { fetchEvents } from './fetch-run.ts'
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
  const events = await fetchEvents(chooseTarget(session, url), runId, since)
  const start = Date.parse(events[0]?.at ?? '')
  for (const event of events) {
    const line = json === true ? jsonText(event) : eventLine(event, start)
    if (line !== undefined) await session.write(`${json === true ? '' : `${String(event.seq).padStart(4)} `}${line}\n`)
  }
}

function readSeq(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('A seq is a whole number from 0.')
}
