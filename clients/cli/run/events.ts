import { type Command, type CommandOptions, InvalidArgumentError } from 'commander'
import { decisionWords, questionWords, refusedDecisionWords } from '../../../shared/runs/approval.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { chooseTarget, type Target } from '../server/api.ts'
import { fetchEvents, fetchRun } from '../server/run-answer.ts'
import { type TargetOptions, withTarget } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'
import { count, durationWords, sizeWords, skipWords } from '../terminal/words.ts'

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

/**
 * One event as one line for logs and pipes: `   1.24 s  draft: gate long-enough failed: ..`. `start` is the time of
 * run:started in milliseconds since 1970, `feedback` what the person said whose decision it is. Undefined = not worth a line (what the next event says anyway).
 */
export function eventLine(event: RunEvent, start: number, feedback?: string): string | undefined {
  const words = eventWords(event, feedback)
  if (words === undefined) return undefined
  const at = durationWords(Date.parse(event.at) - start).padStart(9)
  const item = event.item === undefined ? '' : `[${event.item}]`
  const block = event.block_id === undefined ? '' : `${event.block_id}${item}: `
  return oneLine(`${block}${words}`).replace(/^/, `${at}  `)
}

function eventWords(event: RunEvent, feedback: string | undefined): string | undefined {
  switch (event.type) {
    case 'block:ready':
    // What is told by the event that ends the attempt.
    case 'budget:reserved':
    case 'budget:exceeded':
      return undefined
    case 'run:started':
      return `run of ${event.data.dag_name} started`
    case 'run:completed':
    case 'run:failed':
    case 'run:cancelled':
    case 'run:partial':
    case 'run:blocked':
    case 'run:iterated':
      return `run ${event.type.slice('run:'.length)}: ${event.data.reason}`
    case 'context:patched':
      return `context changed: ${event.data.keys.join(', ')}`
    case 'goal:evaluated':
      return goalWords(event.data)
    default:
      return approvalWords(event, feedback) ?? blockWords(event)
  }
}

type GoalData = Extract<RunEvent, { type: 'goal:evaluated' }>['data']

/** An event of an earlier version has no more than how many criteria are met. */
function goalWords({ status, met, total, attempt, row, final_status, action }: GoalData): string {
  const criteria = total === 0 ? status : `${status}, ${met}/${total} criteria`
  const end = final_status === undefined ? '' : `; ${row}: ${final_status}, next ${action}`
  return `goal, attempt ${attempt}: ${criteria}${end}`
}

function blockWords(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'block:started':
      return startWords(event)
    case 'block:output':
      return outputWords(event.data)
    case 'block:gate':
      return `gate ${event.data.gate} ${event.data.status}: ${event.data.reason}`
    case 'block:asked':
      return `asks a person about ${ASKED[event.data.about]}: ${event.data.reason}`
    case 'block:resumed':
      return 'goes on'
    case 'block:retrying':
      return `tries again ${retryWords(event)}: ${event.data.reason}`
    case 'block:completed':
      return event.data.cached_from === undefined ? 'completed' : `completed: kept result of ${event.data.cached_from}`
    case 'block:failed':
      return `failed: ${event.data.reason}`
    case 'block:cancelled':
      return `cancelled: ${event.data.reason}`
    case 'block:skipped':
      return `skipped ${skipWords(event.data.because, event.data.condition)}`
    case 'block:rerouted':
      return rerouteWords(event.data)
    default:
      // A newer server's event: its type says more than silence.
      return (event as { readonly type: string }).type
  }
}

const ASKED = { pre_gates: 'its pre-gates', post_gates: 'its post-gates', budget: 'the budget of the run' } as const

function startWords({ attempt = 1, data }: Extract<RunEvent, { type: 'block:started' }>): string {
  const items = data.items === undefined ? '' : ` on ${count(data.items.count, 'item')}`
  return `${attempt === 1 ? 'started' : `attempt ${attempt} started`}${items}`
}

type ReroutedData = Extract<RunEvent, { type: 'block:rerouted' }>['data']

function rerouteWords({ to, reset, bounce, max, reason }: ReroutedData): string {
  return `sent back to ${to} (bounce ${bounce} of ${max}; again: ${reset.join(', ')}): ${reason}`
}

function retryWords({ at, data }: Extract<RunEvent, { type: 'block:retrying' }>): string {
  const wait = Date.parse(data.due_at) - Date.parse(at)
  return wait > 0 ? `in ${durationWords(wait)}` : 'at once'
}

type OutputData = Extract<RunEvent, { type: 'block:output' }>['data']

function outputWords({ outputs, provider, model, latency_ms, note }: OutputData): string {
  const ports = Object.entries(outputs).map(([port, { bytes }]) => `${port} (${sizeWords(bytes)})`)
  const said = note === undefined ? '' : `; ${note}`
  return `${provider} ${model} gave ${ports.join(', ')} in ${durationWords(latency_ms)}${said}`
}

/** What an event says of a question to people, `feedback` being what the decider said; undefined for other events. */
export function approvalWords(event: RunEvent, feedback?: string): string | undefined {
  switch (event.type) {
    case 'approval:requested':
      return `${questionWords(event.data)} until ${event.data.expires_at}`
    case 'approval:decided':
      return `${decisionWords(event.data, durationWords(event.data.waited_ms))}${feedback === undefined ? '' : `: ${feedback}`}`
    case 'approval:reminded':
      return `reminded ${count(event.data.n, 'time')}: nobody decided yet`
    case 'approval:escalated':
      return `escalated: ${event.data.to.join(', ')} may decide too`
    case 'approval:refused':
      return refusedDecisionWords(event.data)
    case 'approval:expired':
      return `approval expired: ${event.data.on_timeout}`
    default:
      return undefined
  }
}
