import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import type { GatePorts } from './gate-ports.ts'
import { quoted } from './one-sentence.ts'
import { parseApart } from './parse-apart.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

/** Bytes of CSV that are read. */
const MAX_BYTES = 4_194_304

const CsvColumnsSchema = z.strictObject({
  port: PortNameSchema,
  columns: z.array(z.string().min(1).max(200)).min(1).max(200),
  min_rows: z.int().min(0).default(1),
})
type CsvColumns = z.infer<typeof CsvColumnsSchema>

export const csvColumns: Gate<CsvColumns> = {
  type: 'csv_columns',
  summary: 'Passes when the text of the port is CSV (RFC 4180) whose first line names every column, with enough rows.',
  params: CsvColumnsSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'table', columns: ['name', 'area'] }, outputs: { table: 'name,area\nOslo,454\n' }, passes: true },
    { check: { port: 'table', columns: ['name', 'area'] }, outputs: { table: 'name\nOslo\n' }, passes: false },
  ],
  check,
}

async function check(
  { port, columns, min_rows }: CsvColumns,
  facts: GateFacts,
  { isolate }: GatePorts,
): Promise<CheckResult> {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongType(port, 'CSV text', text)
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_BYTES) {
    const reason = `port ${port} has ${bytes} bytes, at most ${MAX_BYTES} are read`
    return { passed: false, unfit: true, reason, facts: { port } }
  }
  const csv = await parseApart('csv', text, isolate)
  if ('error' in csv) return { passed: false, error: true, reason: `cannot read port ${port} as CSV: ${csv.error}` }
  if ('problem' in csv) return { passed: false, reason: `port ${port} is not CSV: ${csv.problem}`, facts: { port } }
  const { header, rows } = csv
  const missing = columns.filter((column) => !header.includes(column))
  if (missing.length > 0) {
    return { passed: false, reason: `must have the columns ${quoted(missing)}`, facts: { port, missing } }
  }
  const told = { port, rows }
  if (rows >= min_rows) return { passed: true, reason: `has the columns and ${rows} rows`, facts: told }
  return { passed: false, reason: `must be at least ${min_rows} rows, has ${rows}`, facts: told }
}
