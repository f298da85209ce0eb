import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RunCost } from '../../../shared/plan/cost.ts'
import { planDag } from '../../../shared/plan/plan-dag.ts'
import { planLine } from '../../../shared/plan/plan-line.ts'
import type { Plan } from '../../../shared/plan/plan-schema.ts'
import { splitLines } from '../../../shared/text/split-lines.ts'
import { readFile } from '../terminal/files.ts'
import { count, durationWords } from '../terminal/format.ts'
import type { PlanOptions } from '../terminal/options.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'
import { readDagFile, refuseFaults } from './compile-and-draw.ts'
import { parseHere, stepsOfFiles } from './document-files.ts'
import { settingsOrDefaults } from './settings-file.ts'

/** `sluice plan FILE`, or the DAGs of stdin. */
export async function planDocument(
  session: Session,
  file: string | undefined,
  options: PlanOptions & { readonly cost?: true },
): Promise<void> {
  if (options.ndjson === true) {
    if (file !== undefined) throw usageError('Give a file or --ndjson, not both: with --ndjson the DAGs come on stdin.')
    return await planLines(session)
  }
  if (file === undefined) throw usageError('Name the DAG file to plan, or say --ndjson.')
  const dag = readDagFile(file, 'plan')
  const { durations, defaultDuration: default_duration, items } = options
  const settings = settingsOrDefaults()
  const max_parallel = options.maxParallel ?? settings.safety.max_parallel
  const planned = refuseFaults(() => planDag(dag, { durations, default_duration, items, max_parallel }, settings))
  if (options.json === true) session.say(jsonText(planned, 2))
  else if (options.cost === true) for (const line of costTable(planned.cost)) session.say(line)
  else for (const line of renderPlan(planned, session.size().columns)) session.say(line)
}

/** A plan for people: a row a subject, folded to `columns`. */
function renderPlan(plan: Plan, columns: number): readonly string[] {
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

/** 1,000 runs by what AWS bills, for `sluice plan --cost`: quantity, dollars, what; docs/cost.md has the formula. */
export function costTable(cost: RunCost): readonly string[] {
  const { lines, orchestration_usd_per_1000_runs: own, work_usd_per_1000_runs: work, region, as_of } = cost
  return [
    `1,000 runs, list prices of ${region}, ${as_of}, free tiers not counted`,
    ...lines.map(({ what, quantity, usd }) => row(usd, `${quantity.toLocaleString('en-US')} ${what}`)),
    row(own, 'all of that'),
    row(work, 'of Lambda while blocks work or wait for a model'),
  ]
}

function row(usd: number, what: string): string {
  return `  ${`$${usd.toFixed(4)}`.padEnd(12)}${what}`
}

/**
 * `sluice plan --ndjson`: a line {"id","n","edges","dur"} in, a line of figures out, in the same order and at once; one
 * line at a time is in memory. A line that cannot be planned is answered with its error, the rest goes on, and the exit
 * code is 100 at the end.
 */
async function planLines(session: Session): Promise<void> {
  let number = 0
  for await (const line of splitLines(process.stdin.setEncoding('utf8'))) {
    number += 1
    if (line.trim() === '') continue
    const answer = planLine(line, number, () => performance.now())
    if ('error' in answer) process.exitCode = 100
    await session.write(`${jsonText(answer)}\n`)
  }
}

/** What 1,000 runs of each document of the settings' folders cost, as `sluice plan` reckons it; a line a document. */
export function documentCosts(): readonly string[] {
  const settings = settingsOrDefaults()
  const files = settings.dags.flatMap((dir) =>
    existsSync(dir)
      ? readdirSync(dir)
          .filter((name) => /\.ya?ml$/.test(name))
          .map((name) => join(dir, name))
      : [],
  )
  const steps = stepsOfFiles(files)
  const rows = files.sort().flatMap((file) => {
    const name = file.replace(/^.*[\\/]|\.ya?ml$/g, '')
    const parsed = parseHere(readFile(file, 'DAG file'), { name, steps })
    if (!parsed.ok) return []
    const { cost } = planDag(parsed.dag, { ...USUAL, max_parallel: settings.safety.max_parallel }, settings)
    const { orchestration_usd_per_1000_runs: own, work_usd_per_1000_runs: work } = cost
    return [`  ${parsed.dag.name.padEnd(24)}$${own.toFixed(2)}, $${work.toFixed(2)} of Lambda while blocks work`]
  })
  return ['1,000 runs, without what models cost (`sluice plan FILE` has the formula)', ...rows]
}

/** As `sluice plan` without options: a second a block, one item of a list that a run makes. */
const USUAL = { durations: {}, default_duration: 1, items: {} }
