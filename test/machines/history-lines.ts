import type { HistoryEvent } from '@aws-sdk/client-sfn'
import type { EnteredState, Line } from './run-history.ts'

interface OpenLine extends Line {
  readonly entered: EnteredState[]
}

/** Behind one of these a branch or an item begins. */
const OPENS = new Set(['ParallelStateStarted', 'MapStateStarted', 'MapIterationStarted'])

/**
 * The lines of states of an execution out of its history, as the interpreter's journal has them (run-history.ts): events
 * of a line name each other, and what a branch's or an item's first state was given is left out.
 */
export function linesOfHistory(events: readonly HistoryEvent[]): readonly Line[] {
  const byId = new Map(events.map((event) => [event.id, event]))
  const lineOf = new Map<number | undefined, OpenLine>()
  const root: OpenLine = { of: '', entered: [] }
  const lines = [root]
  for (const event of events) {
    const { previousEventId, stateEnteredEventDetails: entered } = event
    const before = lineOf.get(previousEventId) ?? root
    const isFirst = entered !== undefined && OPENS.has(byId.get(previousEventId)?.type ?? '')
    const line = isFirst ? { of: lastOf(before), entered: [] } : (leftBy(event, lines) ?? before)
    if (isFirst) lines.push(line)
    lineOf.set(event.id, line)
    if (entered === undefined) continue
    line.entered.push({ state: entered.name ?? '', input: isFirst ? null : JSON.parse(entered.input ?? 'null') })
  }
  return lines
}

/** What ends a Parallel or a Map comes behind a branch or an item of it. */
function leftBy({ stateExitedEventDetails: left }: HistoryEvent, lines: readonly OpenLine[]): OpenLine | undefined {
  return left && lines.findLast((line) => lastOf(line) === left.name)
}

function lastOf({ entered }: OpenLine): string {
  return entered.at(-1)?.state ?? ''
}
