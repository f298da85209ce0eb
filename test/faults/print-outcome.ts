import type { RunEvent } from '../../shared/runs/event.ts'
import type { Outcome } from './simulate.ts'

const MOST_DATA = 140

/** A seed for people: what was broken, what was done to it, and what the runs recorded. */
export function printOutcome({ violations, faults, lines, logs, scenario, digest, steps }: Outcome): string {
  const ids = [...logs.keys()]
  return [
    ...violations.map((words) => `VIOLATION ${words}`),
    '',
    ...scenario.runs.map(({ run_id, document }) => `document of ${run_id}: ${JSON.stringify(document)}`),
    '',
    `${faults.length} faults, ${scenario.acts.length} acts, ${ids.length} runs:`,
    ...lines,
    '',
    ...ids.flatMap((id) => [id, ...(logs.get(id) ?? []).map(lineOf), '']),
    `${steps} steps, events sha256 ${digest}`,
  ].join('\n')
}

function lineOf({ seq, at, type, block_id, item, attempt, data }: RunEvent): string {
  const who = [block_id, item, attempt && `#${attempt}`].filter((part) => part !== undefined).join(' ')
  return `  ${String(seq).padStart(3)} ${at} ${type} ${who} ${JSON.stringify(data).slice(0, MOST_DATA)}`
}
