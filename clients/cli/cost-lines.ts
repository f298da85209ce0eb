import type { ShownBudget } from '../../shared/runs/shown-budget.ts'
import type { CostReport, CostRow } from './cost-report.ts'
import { oneLine } from './plain-text.ts'

interface CostedRun {
  readonly dag_name: string
  readonly state: string
  readonly budget: ShownBudget
  readonly storage?: { readonly stored_bytes: number; readonly quota_bytes: number } | undefined
}

/** A table of the rows with their totals, then what is used of each cap and of what it may store. */
export function costLines(
  { dag_name, state, budget, storage }: CostedRun,
  { rows, totals }: CostReport,
): readonly string[] {
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

function cellsOf({ block_id, item, epoch, attempt, work, by, tokens_in, tokens_out, usd }: CostRow): readonly string[] {
  const place = item === undefined ? block_id : `${block_id}[${item}]`
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
