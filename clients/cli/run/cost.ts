import type { Command, CommandOptions } from 'commander'
import { GET_RUN } from '../../../shared/api/run-routes.ts'
import type { ShownBudget } from '../../../shared/runs/budget.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { eventPosition } from '../../../shared/runs/run-fold.ts'
import { agentItemNames } from '../../../shared/runs/turns-and-calls.ts'
import { usedByEvent } from '../../../shared/runs/usage-cost.ts'
import { callApi, chooseTarget } from '../server/api.ts'
import { fetchEvents } from '../server/fetch-run.ts'
import { type TargetOptions, withReadingOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

export function addCost(parent: Command, session: Session, hidden?: CommandOptions): void {
  withReadingOptions(
    parent
      .command('cost', hidden)
      .description('what a run cost, by block, attempt and model, its budget, and what it stored'),
  )
    .argument('<run-id>')
    .action((runId: string, options: TargetOptions) => cost(session, runId, options))
}

async function cost(session: Session, runId: string, { url, json }: TargetOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const { run } = await callApi(target, RunSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id: runId } } }),
  )
  const report = costReport(await fetchEvents(target, runId))
  const { run_id, dag_name, state, budget, storage } = run
  const stored = storage === undefined ? {} : { storage }
  if (json === true) return session.say(jsonText({ run_id, dag_name, state, ...report, budget, ...stored }, 2))
  for (const line of costLines({ dag_name, state, budget, ...stored }, report)) session.say(line)
}

/** Members the report shows; a newer server may say more. */
const RunSchema = GET_RUN.answer
  .pick({ run: true })
  .extend({
    run: GET_RUN.answer.shape.run
      .pick({ run_id: true, dag_name: true, state: true, budget: true, storage: true })
      .loose(),
  })
  .loose()

/** What calls of one attempt used, of one kind of work and one model. */
interface CostRow {
  readonly block_id: string
  readonly item?: number
  /** Of an agent's turn or call. */
  readonly name?: string
  readonly epoch: number
  readonly attempt: number
  /** `answer`, `judge NAME`, or why nobody knows more: a call that was given up, an attempt that was lost or stopped. */
  readonly work: string
  /** `provider/model`, where the event tells. */
  readonly by: string
  readonly tokens_in: number
  readonly tokens_out: number
  /** null = the price is unknown. */
  readonly usd: number | null
}

interface CostReport {
  readonly rows: readonly CostRow[]
  readonly totals: {
    readonly tokens_in: number
    readonly tokens_out: number
    /** Of the rows whose price is known. */
    readonly usd: number
    readonly unpriced_rows: number
  }
}

/** What a run cost, row by row in the order it was recorded: the same events and sums as GET run and the budget. */
function costReport(events: readonly RunEvent[]): CostReport {
  const names = agentItemNames()
  const rows = events.flatMap((event) => rowOf(event, names(event)) ?? [])
  const sum = (of: (row: CostRow) => number) => rows.reduce((total, row) => total + of(row), 0)
  return {
    rows,
    totals: {
      tokens_in: sum(({ tokens_in }) => tokens_in),
      tokens_out: sum(({ tokens_out }) => tokens_out),
      // Summed in millionths: dollars as they are would gather rounding.
      usd: sum(({ usd }) => Math.round((usd ?? 0) * 1_000_000)) / 1_000_000,
      unpriced_rows: rows.filter(({ usd }) => usd === null).length,
    },
  }
}

/** undefined: no call, or one nobody charges for that used nothing. */
function rowOf(event: RunEvent, name: string | undefined): CostRow | undefined {
  const cost = usedByEvent(event)
  if (cost === undefined || (cost.tokens_in + cost.tokens_out === 0 && (cost.usd_micros ?? 0) === 0)) return undefined
  const { tokens_in, tokens_out, usd_micros } = cost
  const usd = usd_micros === undefined ? null : usd_micros / 1_000_000
  const place = { block_id: event.block_id ?? '', ...eventPosition(event), ...(name === undefined ? {} : { name }) }
  return { ...place, ...workOf(event), tokens_in, tokens_out, usd }
}

function workOf({ type, data }: RunEvent): Pick<CostRow, 'work' | 'by'> {
  if (type === 'block:output') return { work: 'answer', by: `${data.provider}/${data.model}` }
  if (type === 'block:gate') return { work: `judge ${data.gate}`, by: judgeIn(data.facts) }
  if (type === 'approval:requested') return { work: 'judges before the question', by: '' }
  if (type === 'block:asked') return { work: 'before the question', by: '' }
  if (type.startsWith('research:')) return { work: type.slice('research:'.length), by: '' }
  return { work: type === 'block:completed' ? 'judges' : 'given up', by: '' }
}

/** A model's gate names who judged in its facts. */
function judgeIn(facts: unknown): string {
  const judge = typeof facts === 'object' && facts !== null && 'judge' in facts ? facts.judge : ''
  return typeof judge === 'string' ? judge : ''
}

interface CostedRun {
  readonly dag_name: string
  readonly state: string
  readonly budget: ShownBudget
  readonly storage?: { readonly stored_bytes: number; readonly quota_bytes: number } | undefined
}

/** A table of the rows with their totals, then what is used of each cap and of what it may store. */
function costLines({ dag_name, state, budget, storage }: CostedRun, { rows, totals }: CostReport): readonly string[] {
  const { tokens_in, tokens_out, usd, unpriced_rows } = totals
  const price = unpriced_rows === 0 ? dollars(usd) : `${dollars(usd)} and ${unpriced_rows} unknown`
  const table = [
    ['block', 'try', 'work', 'by', 'in', 'out', 'usd'],
    ...rows.map(cellsOf),
    ['total', '', '', '', number(tokens_in), number(tokens_out), price],
  ]
  const body = rows.length === 0 ? ['No call of a model was recorded.'] : aligned(table)
  return [`${oneLine(dag_name)}  ${oneLine(state)}`, ...body, ...capLines(budget), ...storedLines(storage)]
}

function cellsOf({ block_id, item, name, epoch, attempt, work, by, ...row }: CostRow): readonly string[] {
  const { tokens_in, tokens_out, usd } = row
  const place = name === undefined ? (item === undefined ? block_id : `${block_id}[${item}]`) : `${block_id} ${name}`
  const tries = epoch === 0 ? `${attempt}` : `${attempt} (pass ${epoch + 1})`
  return [place, tries, work, by, number(tokens_in), number(tokens_out), usd === null ? 'unknown' : dollars(usd)]
}

function capLines(budget: ShownBudget): readonly string[] {
  const { cap_tokens, cap_usd } = budget
  const tokens = { spent: number(budget.spent_tokens), reserved: number(budget.committed_tokens - budget.spent_tokens) }
  const usd = { spent: dollars(budget.spent_usd), reserved: dollars(budget.committed_usd - budget.spent_usd) }
  const lines = [
    ...(cap_tokens === undefined ? [] : [capLine('tokens', number(cap_tokens), tokens)]),
    ...(cap_usd === undefined ? [] : [capLine('usd', dollars(cap_usd), usd)]),
  ]
  return lines.length === 0 ? ['No budget: the run has no cap.'] : lines
}

function storedLines(storage: CostedRun['storage']): readonly string[] {
  if (storage === undefined) return []
  return [`Stored: ${number(storage.stored_bytes)} of ${number(storage.quota_bytes)} bytes`]
}

function capLine(
  unit: string,
  cap: string,
  { spent, reserved }: { readonly spent: string; readonly reserved: string },
) {
  return `Budget ${unit}: ${spent} of ${cap} spent, ${reserved} reserved`
}

/** Columns of numbers are aligned to the right. */
function aligned(table: readonly (readonly string[])[]): readonly string[] {
  const clean = table.map((row) => row.map(oneLine))
  const widths = (clean[0] ?? []).map((_, at) => Math.max(...clean.map((row) => (row[at] ?? '').length)))
  return clean.map((row) =>
    row
      .map((cell, at) => (at < NUMBERS ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

/** The first columns are words. */
const NUMBERS = 4

function number(value: number): string {
  return value.toLocaleString('en-US')
}

function dollars(usd: number): string {
  return `$${usd.toFixed(6).replace(/0{1,4}$/, '')}`
}
