import * as z from 'zod'
import { quotedList, safeOneLine } from '../../text/redact.ts'
import { readYaml } from '../../text/yaml.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import type { GatePorts } from '../gate-ports.ts'
import { parseText } from '../parse-json-csv.ts'
import { PortNameSchema, readPort, wrongTypeResult } from '../read-facts.ts'

const ValidYamlSchema = z.strictObject({ port: PortNameSchema })
type ValidYaml = z.infer<typeof ValidYamlSchema>

/** YAML as our own documents may be (at most 256 KiB, no aliases, no custom tags). */
export const validYaml: Gate<ValidYaml> = {
  type: 'valid_yaml',
  summary: 'Passes when the text of the port is one YAML document of plain values, without aliases and custom tags.',
  params: ValidYamlSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'config' }, outputs: { config: 'name: demo\nsteps: [a, b]\n' }, passes: true },
    { check: { port: 'config' }, outputs: { config: 'name: demo\n  steps: [a, b\n' }, passes: false },
  ],
  check: checkYaml,
}

function checkYaml({ port }: ValidYaml, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongTypeResult(port, 'YAML text', text)
  const read = readYaml(text)
  if (read.ok) return { passed: true, reason: 'is YAML', facts: { port } }
  const [first] = read.problems
  // Beyond its limits a text is not read to the end, so nobody knows that it is no YAML.
  const unfit = first?.code === 'limit_exceeded' ? { unfit: true as const } : {}
  const why = first?.say({ who: 'the text', place: first.path.join('.') || 'the text' }).text ?? 'it cannot be read'
  return { passed: false, ...unfit, reason: `port ${port} must be YAML: ${safeOneLine(why, 200)}`, facts: { port } }
}

/** Bytes of CSV that are read. */
const MAX_CSV_BYTES = 4_194_304

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
  check: checkColumns,
}

async function checkColumns(
  { port, columns, min_rows }: CsvColumns,
  facts: GateFacts,
  { isolate }: GatePorts,
): Promise<CheckResult> {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongTypeResult(port, 'CSV text', text)
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_CSV_BYTES) {
    const reason = `port ${port} has ${bytes} bytes, at most ${MAX_CSV_BYTES} are read`
    return { passed: false, unfit: true, reason, facts: { port } }
  }
  const csv = await parseText('csv', text, isolate)
  if ('error' in csv) return { passed: false, error: true, reason: `cannot read port ${port} as CSV: ${csv.error}` }
  if ('problem' in csv) return { passed: false, reason: `port ${port} is not CSV: ${csv.problem}`, facts: { port } }
  const { header, rows } = csv
  const missing = columns.filter((column) => !header.includes(column))
  if (missing.length > 0) {
    return { passed: false, reason: `must have the columns ${quotedList(missing)}`, facts: { port, missing } }
  }
  const told = { port, rows }
  if (rows >= min_rows) return { passed: true, reason: `has the columns and ${rows} rows`, facts: told }
  return { passed: false, reason: `must be at least ${min_rows} rows, has ${rows}`, facts: told }
}

const MAX_MARKDOWN_BYTES = 4_194_304

const MarkdownSectionsSchema = z.strictObject({
  port: PortNameSchema,
  sections: z.array(z.string().max(200).regex(/\S/, 'a heading is not blank')).min(1).max(100),
})
type MarkdownSections = z.infer<typeof MarkdownSectionsSchema>

/** ATX headings (CommonMark 4.2) outside fenced code, whatever their case and level. */
export const markdownSections: Gate<MarkdownSections> = {
  type: 'markdown_sections',
  summary: 'Passes when the Markdown of the port has every heading, each with a text below it.',
  params: MarkdownSectionsSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'brief', sections: ['Risks'] },
      outputs: { brief: '# Plan\n\n## Risks\n\nNone known.\n' },
      passes: true,
    },
    {
      check: { port: 'brief', sections: ['Risks'] },
      outputs: { brief: '## Risks\n\n## Costs\n\nTen.\n' },
      passes: false,
    },
  ],
  check: checkSections,
}

function checkSections({ port, sections }: MarkdownSections, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongTypeResult(port, 'Markdown text', text)
  if (Buffer.byteLength(text) > MAX_MARKDOWN_BYTES) {
    const reason = `port ${port} has more than the ${MAX_MARKDOWN_BYTES} bytes that are read`
    return { passed: false, unfit: true, reason, facts: { port } }
  }
  const filled = filledSections(text)
  const state = (section: string) => filled.get(fold(section))
  const missing = sections.filter((section) => state(section) === undefined)
  if (missing.length > 0) {
    return { passed: false, reason: `must have the sections ${quotedList(missing)}`, facts: { port, missing } }
  }
  const empty = sections.filter((section) => state(section) === false)
  if (empty.length > 0) {
    return { passed: false, reason: `must have text below the headings ${quotedList(empty)}`, facts: { port, empty } }
  }
  return { passed: true, reason: `has the sections ${quotedList(sections)}`, facts: { port, sections } }
}

/** Each heading, folded, and whether any text follows before the next heading of its level or above. */
function filledSections(text: string): ReadonlyMap<string, boolean> {
  const reader: Reader = { filled: new Map(), open: [], fence: undefined }
  for (const line of text.split(/\r\n|\n|\r/)) {
    const heading = reader.fence === undefined ? HEADING.exec(line) : null
    if (heading !== null) openSection(reader, heading)
    else if (/\S/.test(line)) for (const { name } of reader.open) reader.filled.set(name, true)
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1]
    if (mark !== undefined) reader.fence = fenceAfter(reader.fence, mark)
  }
  return reader.filled
}

interface Reader {
  readonly filled: Map<string, boolean>
  /** The headings the line stands below, outermost first. */
  open: readonly { readonly level: number; readonly name: string }[]
  fence: string | undefined
}

function openSection(reader: Reader, [, marks = '', heading = '']: RegExpExecArray): void {
  const [level, name] = [marks.length, fold(heading)]
  reader.open = [...reader.open.filter((above) => above.level < level), { level, name }]
  if (!reader.filled.has(name)) reader.filled.set(name, false)
}

const HEADING = /^ {0,3}(#{1,6})[ \t]+(\S[^\r\n]*)$/

/** A fence ends with one of its own kind, at least as long. */
function fenceAfter(fence: string | undefined, mark: string): string | undefined {
  if (fence === undefined) return mark
  return mark[0] === fence[0] && mark.length >= fence.length ? undefined : fence
}

function fold(name: string): string {
  return name
    .replace(/[ \t]+#+[ \t]*$/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toUpperCase()
}
