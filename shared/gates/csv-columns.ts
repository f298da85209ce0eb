import * as z from 'zod'
import { parseCsv } from '../table/csv.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

/** Bytes of CSV read on the event loop: up to 0.7 s for short lines. */
const MAX_BYTES = 4_194_304

const CsvColumnsSchema = z.strictObject({
  port: PortNameSchema,
  columns: z.array(z.string().min(1).max(200)).min(1).max(200),
  min_rows: z.int().min(0).default(1),
})
type CsvColumns = z.infer<typeof CsvColumnsSchema>

/** Spec gates, "Beyond the thirteen". */
export const csvColumns: Gate<CsvColumns> = {
  type: 'csv_columns',
  summary: 'Passes when the text of the port is CSV (RFC 4180) whose first line names every column, with enough rows.',
  params: CsvColumnsSchema,
  reads: ({ port }) => [port],
  examples: [
    { check: { port: 'table', columns: ['name', 'area'] }, outputs: { table: 'name,area\nOslo,454\n' }, passes: true },
    { check: { port: 'table', columns: ['name', 'area'] }, outputs: { table: 'name\nOslo\n' }, passes: false },
  ],
  check,
}

function check({ port, columns, min_rows }: CsvColumns, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongType(port, 'CSV text', text)
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_BYTES) {
    const reason = `port ${port} has ${bytes} bytes, at most ${MAX_BYTES} are read`
    return { passed: false, unfit: true, reason, facts: { port } }
  }
  const csv = parseCsv(text)
  if ('problem' in csv) return { passed: false, reason: `port ${port} is not CSV: ${csv.problem}`, facts: { port } }
  const [head = [], ...rows] = csv.records
  const missing = columns.filter((column) => !head.includes(column))
  if (missing.length > 0) {
    return { passed: false, reason: `must have the columns ${quoted(missing)}`, facts: { port, missing } }
  }
  const told = { port, rows: rows.length }
  if (rows.length >= min_rows) return { passed: true, reason: `has the columns and ${rows.length} rows`, facts: told }
  return { passed: false, reason: `must be at least ${min_rows} rows, has ${rows.length}`, facts: told }
}
