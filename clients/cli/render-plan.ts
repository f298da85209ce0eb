import type { Plan } from '../../shared/plan/plan.ts'
import { plainText } from './plain-text.ts'
import { count, durationWords } from './words.ts'

/** A plan for people: a row a subject, folded to `columns`. */
export function renderPlan(plan: Plan, columns: number): readonly string[] {
  const { dag, blocks, parallels, joins, machines, over_ordered, assumptions } = plan
  const head = [count(blocks, 'block'), count(parallels, 'Parallel'), count(joins.length, 'join')]
  const rows: readonly (readonly [string, string])[] = [
    ...timeRows(plan),
    ...machineRows(plan),
    ...costRows(plan),
    ...joins.map(({ reason }, i) => [i === 0 ? 'joins' : '', reason] as const),
    ...over_ordered.map(
      ({ before, after, reason }, i) =>
        [i === 0 ? 'over-ordered' : '', `${after} waits for ${before}: ${reason}`] as const,
    ),
    ...assumptions.map((assumption, i) => [i === 0 ? 'assumed' : '', assumption] as const),
  ]
  const title = `${dag}: ${[...head, count(machines.length, 'machine')].join(', ')}`
  return [title, ...rows.flatMap(([label, text]) => fold(label, text, columns))].map(plainText)
}

type Row = readonly [string, string]

function timeRows({ critical_path, makespan, width }: Plan): readonly Row[] {
  const { max_parallel, seconds, limited_seconds } = makespan
  const limited = max_parallel === 0 ? '' : `; with ${max_parallel} at once about ${words(limited_seconds)}`
  const allowed = max_parallel === 0 ? 'no limit' : `max_parallel ${max_parallel}`
  const exceeds = width.exceeds_max_parallel ? '; some will wait for a slot' : ''
  return [
    ['critical path', `${words(critical_path.seconds)}: ${critical_path.blocks.join(' -> ')}`],
    ['makespan', `${words(seconds)}${limited}`],
    ['at once', `${width.at_once}, at most ${width.possible} whatever blocks take; ${allowed}${exceeds}`],
  ]
}

function machineRows({
  transitions,
  events,
  event_budget,
  bytes,
  states,
  depth,
  signals,
  machines,
}: Plan): readonly Row[] {
  const parts = machines.length === 1 ? [] : machines
  return [
    [
      'a run',
      `${number(transitions)} transitions, ${number(events)} history events, at most ${number(event_budget)} in one machine`,
    ],
    [
      'machine',
      `${number(bytes)} bytes, ${number(states)} states, Parallels ${depth} deep, ${count(signals, 'signal')}`,
    ],
    ...parts.map(
      (part): Row => [
        '',
        `${part.name}: ${number(part.bytes)} bytes, ${number(part.states)} states, ${number(part.events)} events`,
      ],
    ),
  ]
}

function costRows({ cost, next_limit: next }: Plan): readonly Row[] {
  const { orchestration_usd_per_1000_runs: own, work_usd_per_1000_runs: work, region, as_of } = cost
  const share = (100 * next.share).toFixed(1)
  return [
    [
      '1,000 runs',
      `$${own.toFixed(2)} of orchestration, $${work.toFixed(2)} of Lambda while blocks work; list prices of ${region}, ${as_of}`,
    ],
    ...modelRows(cost.models),
    ['next limit', `${next.name}: ${number(next.used)} of ${number(next.limit)} (${share} %)`],
  ]
}

function modelRows({ calls, tokens, usd, unpriced }: Plan['cost']['models']): readonly Row[] {
  if (calls.length === 0) return []
  const unknown = unpriced.length === 0 ? '' : `; unknown price: ${unpriced.join(', ')}`
  const price = calls.every((call) => call.usd === null)
    ? 'price unknown'
    : `about ${dollars(usd.expected)}, ${dollars(usd.low)} to ${dollars(usd.high)}`
  const used = `${number(tokens.expected)} tokens, ${number(tokens.low)} to ${number(tokens.high)}`
  return [['models', `a run: ${price}; ${used}${unknown}`]]
}

function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`
}

function words(seconds: number): string {
  return durationWords(seconds * 1_000)
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}

const LABEL = 16

/** Words in lines of at most `columns`, under each other; a word longer than a line stays whole. */
function fold(label: string, text: string, columns: number): readonly string[] {
  const room = Math.max(columns - LABEL, 24)
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((one, i) => `${(i === 0 ? `  ${label}` : '').padEnd(LABEL)}${one}`)
}
