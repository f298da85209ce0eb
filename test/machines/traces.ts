import { setTimeout as delay } from 'node:timers/promises'
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  ListExecutionsCommand,
  ListStateMachinesCommand,
  type SFNClient,
  type StateEnteredEventDetails,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import type { Execution } from '../../shared/runs/machine.ts'
import type { Json } from '../../shared/text/json.ts'
import type { EnteredState, Line } from './run-history.ts'

/** What one execution did: its states, line by line, how many events that is, and its end. */
export interface Trace {
  readonly name: string
  readonly lines: readonly Line[]
  readonly events: number
  readonly end: Execution & { readonly output?: Json }
}

/** Answers what a service's executions from now on did, once none of them runs. */
export async function traceExecutions(client: SFNClient): Promise<() => Promise<readonly Trace[]>> {
  const before = new Set((await executionsIn(client)).map(({ arn }) => arn))
  return async () => {
    for (;;) {
      const all = (await executionsIn(client)).filter(({ arn }) => !before.has(arn))
      if (all.every(({ status }) => status !== 'RUNNING')) {
        return await Promise.all(all.map(({ arn }) => traceOf(client, arn)))
      }
      await delay(20)
    }
  }
}

export async function stopExecutions(client: SFNClient): Promise<void> {
  const running = (await executionsIn(client)).filter(({ status }) => status === 'RUNNING')
  for (const { arn } of running) await client.send(new StopExecutionCommand({ executionArn: arn }))
}

async function executionsIn(client: SFNClient) {
  const { stateMachines = [] } = await client.send(new ListStateMachinesCommand({ maxResults: 1_000 }))
  const lists = stateMachines.map(({ stateMachineArn }) =>
    client.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 1_000 })),
  )
  const executions = (await Promise.all(lists)).flatMap((list) => list.executions ?? [])
  return executions.map(({ executionArn = '', status }) => ({ arn: executionArn, status }))
}

async function traceOf(client: SFNClient, executionArn: string): Promise<Trace> {
  const { name = '', status, error, cause, output } = await client.send(new DescribeExecutionCommand({ executionArn }))
  const { events = [] } = await client.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1_000 }))
  const said = output === undefined ? undefined : (JSON.parse(output) as Json)
  return {
    name,
    lines: linesOfHistory(events),
    events: events.length,
    end: endOf({ status: status as Execution['status'], error, cause, output: said }),
  }
}

/** Without what is not there. */
export function endOf(given: { readonly [K in keyof Trace['end']]: Trace['end'][K] | undefined }): Trace['end'] {
  return JSON.parse(JSON.stringify(given))
}

interface OpenLine extends Line {
  readonly entered: EnteredState[]
}

/** Behind one of these a branch or an item begins. */
const OPENS = new Set(['ParallelStateStarted', 'MapStateStarted', 'MapIterationStarted'])

/**
 * The lines of states of an execution out of its history, as the interpreter's journal has them (run-history.ts): events
 * of a line name each other, and what a branch's or an item's first state was given is left out.
 */
function linesOfHistory(events: readonly HistoryEvent[]): readonly Line[] {
  const byId = new Map(events.map((event) => [event.id, event]))
  const lineOf = new Map<number | undefined, OpenLine>()
  const root: OpenLine = { of: '', entered: [] }
  const lines = [root]
  for (const event of events) {
    const { previousEventId, stateEnteredEventDetails: entered } = event
    const opening = byId.get(previousEventId)
    const isFirst = entered !== undefined && OPENS.has(opening?.type ?? '')
    const before = lineOf.get(previousEventId) ?? root
    const line = isFirst ? openLine(lines, opening, before) : (leftBy(event, lines) ?? before)
    lineOf.set(event.id, line)
    if (entered !== undefined) line.entered.push(stateOf(entered, isFirst))
  }
  return lines
}

/** An item may come behind the one before it: it names its Map. */
function openLine(lines: OpenLine[], opening: HistoryEvent | undefined, before: OpenLine): OpenLine {
  const line = { of: opening?.mapIterationStartedEventDetails?.name ?? lastOf(before), entered: [] }
  lines.push(line)
  return line
}

function stateOf({ name = '', input = 'null' }: StateEnteredEventDetails, isFirst: boolean): EnteredState {
  return { state: name, input: isFirst ? null : JSON.parse(input) }
}

/** What ends a Parallel or a Map comes behind a branch or an item of it. */
function leftBy({ stateExitedEventDetails: left }: HistoryEvent, lines: readonly OpenLine[]): OpenLine | undefined {
  return left && lines.findLast((line) => lastOf(line) === left.name)
}

function lastOf({ entered }: OpenLine): string {
  return entered.at(-1)?.state ?? ''
}
