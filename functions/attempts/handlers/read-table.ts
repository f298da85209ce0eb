import { formatOfEnding, type HandlerConfig } from '../../../shared/dag/handlers.ts'
import { Fault } from '../../../shared/errors.ts'
import { TABLE_LIMITS, type TableProblem } from '../../../shared/table/columns.ts'
import { separatorSign } from '../../../shared/table/delimited-text.ts'
import type { ReadRows } from '../../../shared/table/read-rows.ts'
import { decodeText } from '../../../shared/text/encodings.ts'
import type { Json } from '../../../shared/text/json.ts'
import { type BlockHandler, type HandlerCall, handlerFault, isolateOf, readConfig } from './block-handler.ts'
import { readFileInput, readPath, reads } from './read-input.ts'
import { readObjectRef } from './store-artifact.ts'

/**
 * Reads a table (shared/table/read-rows.ts) into the one json output: a list of row objects by the names of the columns. An
 * output `columns` beside it takes those names, in their order.
 * It comes from input `file` (an object ref), input `table` (a text, its object ref, or rows), config `path` (a template,
 * below the inputs folder), or the one input there is. Bytes are decoded here, which is linear; what they say is read in
 * the isolate, with its limits of time and memory. Faults InvalidInput table_encoding, table_malformed, table_header,
 * table_row, table_failed; LimitExceeded table_too_large (413).
 */
export const readTable: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const { path, encoding, ...config } = readConfig('read-table', call)
    const port = rowsPort(call)
    const input = await sourceOf(call, path, encoding)
    const answer = await isolateOf(call).run('read_rows', { program: questionOf(config, path), input }, TABLE_LIMIT)
    call.signal.throwIfAborted()
    if (!answer.ok) throw stopped(call, 'read-table', answer)
    // What the engine of that kind answers.
    const read = answer.value as unknown as ReadRows
    if ('problem' in read) throw tableFault(call, 'read-table', read)
    return { [port]: read.rows, ...(port !== COLUMNS && COLUMNS in call.outputs ? { [COLUMNS]: read.columns } : {}) }
  },
}

const COLUMNS = 'columns'

function rowsPort(call: HandlerCall): string {
  const ports = Object.keys(call.outputs)
  const [port, ...others] = ports.length > 1 ? ports.filter((name) => name !== COLUMNS) : ports
  if (port !== undefined && others.length === 0) return port
  const seen = port === undefined ? 'it has no output' : 'it has several outputs'
  throw handlerFault(
    call,
    'read-table',
    'handler_ports',
    `${seen}; one of type json is needed, and "columns" may be there.`,
  )
}

/** Many times what the largest table that is allowed takes. */
export const TABLE_LIMIT = { ms: 20_000, mb: 512 }

function questionOf(
  { separator, ...config }: Omit<HandlerConfig<'read-table'>, 'path' | 'encoding'>,
  path: string | undefined,
): Json {
  const format = config.format ?? formatOfEnding(path?.slice(path.lastIndexOf('.') + 1).toLowerCase() ?? '')
  const sign = separator === undefined ? undefined : separatorSign(separator)
  const given = { ...config, format, separator: sign }
  // Data by its schema; JSON has no undefined.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Json
}

type Encoding = HandlerConfig<'read-table'>['encoding']

async function sourceOf(call: HandlerCall, path: string | undefined, encoding: Encoding): Promise<Json> {
  const file = await readFileInput(call, 'read-table', path)
  if (file !== undefined) return textOf(call, file, encoding)
  const table = tableInput(call, path)
  if (table === undefined) {
    if (path !== undefined) return textOf(call, await readPath(call, 'read-table', path), encoding)
    const what = 'it has neither config "path" nor an input "file" or "table". Name what to read.'
    throw handlerFault(call, 'read-table', 'input_source', what)
  }
  const bytes = await readObjectRef(call, table)
  return bytes === undefined ? bounded(call, table) : textOf(call, bytes, encoding)
}

/** Input `table`, unless `path` is made of it; without a path also the one input there is. */
function tableInput({ inputs }: HandlerCall, path: string | undefined): Json | undefined {
  const { table } = inputs
  if (path !== undefined) return table === null || reads(path, 'table') ? undefined : table
  const all = Object.values(inputs)
  return table ?? (all.length === 1 ? all[0] : undefined) ?? undefined
}

function bounded(call: HandlerCall, table: Json): Json {
  if (typeof table === 'string' && table.length > TABLE_LIMITS.text_bytes) throw tooLong(call, table.length)
  return table
}

function textOf(call: HandlerCall, bytes: Uint8Array, encoding: Encoding): string {
  if (bytes.byteLength > TABLE_LIMITS.text_bytes) throw tooLong(call, bytes.byteLength)
  const decoded = decodeText(bytes, encoding)
  if ('text' in decoded) return decoded.text
  throw handlerFault(call, 'read-table', 'table_encoding', decoded.problem)
}

function tooLong(call: HandlerCall, bytes: number): Fault {
  const problem = `it has ${bytes} bytes, more than the ${TABLE_LIMITS.text_bytes} bytes (10 MiB) that are allowed; split the table`
  return tableFault(call, 'read-table', { code: 'table_too_large', problem })
}

/** What is wrong with a table, as a fault of its block. */
export function tableFault(
  call: HandlerCall,
  handler: 'read-table' | 'write-table',
  { code, problem }: TableProblem,
): Fault {
  const message = `Cannot run block "${call.block_id}" (${handler}): ${problem}.`
  if (code !== 'table_too_large') return new Fault('InvalidInput', code, message)
  return new Fault('LimitExceeded', code, message, { status: 413 })
}

/** The isolate ended before it could answer. */
export function stopped(
  call: HandlerCall,
  handler: 'read-table' | 'write-table',
  { because, message }: { readonly because: string; readonly message: string },
): Fault {
  return handlerFault(call, handler, 'table_failed', `it stopped (${because}): ${message}. Split the table.`)
}
