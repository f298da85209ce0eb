import { writtenFormat } from '../../../shared/dag/handlers.ts'
import { separatorSign } from '../../../shared/table/delimited-text.ts'
import type { WrittenRows } from '../../../shared/table/write-rows.ts'
import type { Json } from '../../../shared/text/json.ts'
import { type BlockHandler, type HandlerCall, isolateOf, pickInput, readConfig } from './block-handler.ts'
import { stopped, TABLE_LIMIT, tableFault } from './read-table.ts'
import { storeArtifact } from './store-artifact.ts'

/**
 * Stores the row objects of input `rows` (or the one input) as artifact `name` of the run, as a text that read-table reads
 * as the same rows (shared/table/write-rows.ts). An input `columns` (a list of names) counts before the config's. Every output takes the object ref. The same name again replaces the
 * artifact; each item of a foreach writes one of its own. Faults as read-table's.
 */
export const writeTable: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const { name, separator, ...config } = readConfig('write-table', call)
    const format = writtenFormat({ name, format: config.format })
    const sign = separator === undefined ? undefined : separatorSign(separator)
    const columns = columnsInput(call) ?? config.columns
    const given = { ...config, columns, format, separator: sign }
    // Data by its schema; JSON has no undefined.
    const program = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Json
    const input = pickInput(call, 'write-table', 'rows')
    const answer = await isolateOf(call).run('write_rows', { program, input }, TABLE_LIMIT)
    call.signal.throwIfAborted()
    if (!answer.ok) throw stopped(call, 'write-table', answer)
    // What the engine of that kind answers.
    const written = answer.value as unknown as WrittenRows
    if ('problem' in written) throw tableFault(call, 'write-table', written)
    const value = new TextEncoder().encode(written.text)
    const { ref } = await storeArtifact(call, { name, value, media_type: MEDIA_TYPES[format] })
    return Object.fromEntries(Object.keys(call.outputs).map((port) => [port, ref]))
  },
}

function columnsInput(call: HandlerCall): readonly string[] | undefined {
  const given = Object.hasOwn(call.inputs, 'columns') ? call.inputs.columns : undefined
  if (given === undefined || given === null) return undefined
  const isNames = Array.isArray(given) && given.every((one) => typeof one === 'string')
  if (isNames && new Set<string>(given).size === given.length) return given
  const problem = 'its input "columns" is no list of names, each once'
  throw tableFault(call, 'write-table', { code: 'table_header', problem })
}

const MEDIA_TYPES = {
  csv: 'text/csv; charset=utf-8',
  tsv: 'text/tab-separated-values; charset=utf-8',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
} as const
