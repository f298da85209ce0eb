import { type Command, type CommandOptions, InvalidArgumentError } from 'commander'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { eventRow, eventWords, type Say } from '../../../shared/runs/event-types.ts'
import { agentItemNames } from '../../../shared/runs/turns-and-calls.ts'
import { chooseTarget, type Target } from '../server/api.ts'
import { fetchEvents, fetchRun } from '../server/fetch-run.ts'
import { durationWords, sizeWords, usdWords } from '../terminal/format.ts'
import { type TargetOptions, withReadingOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

interface EventsOptions extends TargetOptions {
  readonly since: number
}

export function addEvents(parent: Command, session: Session, hidden?: CommandOptions): void {
  withReadingOptions(
    parent.command('events', hidden).description('the stored events of a run; --json prints one a line'),
  )
    .argument('<run-id>')
    .option('--since <seq>', 'only events after this one', readSeq, 0)
    .action((runId: string, options: EventsOptions) => printEvents(session, runId, options))
}

async function printEvents(session: Session, runId: string, { url, json, since }: EventsOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const events = await fetchEvents(target, runId, since)
  const said = json === true ? new Map() : await feedbackOf(target, runId, events)
  // Who acts, and with which tools, was said before.
  const names = agentItemNames(json !== true && since > 0 ? (await fetchRun(target, runId)).blocks : {})
  const start = Date.parse(events[0]?.at ?? '')
  for (const event of events) {
    const told = { feedback: said.get(event.seq), item: names(event) }
    const line = json === true ? jsonText(event) : eventLine(event, start, told)
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

/**
 * One event as one line for logs and pipes: `   1.24 s  draft: gate long-enough failed: ..`. `start` is the time of
 * run:started in milliseconds since 1970, `feedback` what the person said whose decision it is, `item` the name of an agent's turn or call. Undefined = not worth a
 * line (what the next event says anyway).
 */
export function eventLine(
  event: RunEvent,
  start: number,
  { feedback, item }: { readonly feedback?: string | undefined; readonly item?: string | undefined } = {},
): string | undefined {
  if (eventRow(event)?.quiet === true) return undefined
  const words = `${eventWords(event, SAY)}${feedback === undefined ? '' : `: ${feedback}`}`
  const place = item === undefined ? (event.item === undefined ? '' : `[${event.item}]`) : ` ${item}`
  const block = event.block_id === undefined ? '' : `${event.block_id}${place}: `
  return timedLine(event, start, oneLine(`${block}${words}`))
}

/** A line after the time of an event since the start of its run. */
export function timedLine({ at }: Pick<RunEvent, 'at'>, start: number, line: string): string {
  return `${durationWords(Date.parse(at) - start).padStart(9)}  ${line}`
}

const SAY: Say = { bytes: sizeWords, duration: durationWords, moment: (at) => at, usd: usdWords }
