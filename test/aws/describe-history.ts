import type { HistoryEvent } from '@aws-sdk/client-sfn'

/**
 * A history as the console of Step Functions lists it: number, event, state or function, below them its data. What
 * differs from run to run is replaced: run ids, tokens, ARNs. Times are left out.
 */
export function describeHistory(events: readonly HistoryEvent[]): string {
  return events
    .flatMap((event) => {
      const [where, ...data] = saidBy(event)
      const head = `${String(event.id).padStart(2)} ${event.type?.padEnd(WIDTH)} ${where}`.trimEnd()
      return [head, ...data.map((line) => `   ${plain(line)}`)]
    })
    .join('\n')
}

/** Of the longest name of an event that is met here. */
const WIDTH = 19

/** Where it happened, and its data. */
function saidBy(event: HistoryEvent): readonly string[] {
  const { stateEnteredEventDetails: entered, stateExitedEventDetails: exited, taskScheduledEventDetails: asked } = event
  if (entered !== undefined) return [entered.name ?? '', `input ${entered.input}`]
  if (exited !== undefined) return [exited.name ?? '', `output ${exited.output}`]
  if (asked !== undefined) {
    const { FunctionName, Payload } = JSON.parse(asked.parameters ?? '{}')
    return [`${functionName(FunctionName)}, ${asked.resource}`, `payload ${JSON.stringify(Payload)}`]
  }
  return ['', ...resultOf(event)]
}

function resultOf(event: HistoryEvent): readonly string[] {
  const failed = event.taskFailedEventDetails ?? event.executionFailedEventDetails
  if (failed !== undefined) return [`Error ${failed.error}`, `Cause ${failed.cause}`]
  const input = event.executionStartedEventDetails?.input
  if (input !== undefined) return [`input ${input}`]
  const { taskSucceededEventDetails, taskSubmittedEventDetails, executionSucceededEventDetails } = event
  const output = (taskSucceededEventDetails ?? taskSubmittedEventDetails ?? executionSucceededEventDetails)?.output
  return output === undefined ? [] : [`output ${output}`]
}

function functionName(arn: string): string {
  return arn.replace(/^.*:function:/, '')
}

function plain(text: string): string {
  return text
    .replace(/run_[0-9a-z]{26}/g, 'RUN')
    .replace(/"token":"[\w-]{43}"/g, '"token":"TOKEN"')
    .replace(/arn:aws:\w+:[\w-]+:\d{12}:/g, '')
}
