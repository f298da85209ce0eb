import type { Json } from '../../../shared/canonical.ts'
import { classifierRecord } from '../../../shared/table/classifier-record.ts'
import { type Classification, classify } from '../../../shared/table/classify.ts'
import { readTable, type Table } from '../../../shared/table/table.ts'
import { type BlockHandler, configOf, type HandlerCall } from './handler.ts'
import { pickInput } from './pick-input.ts'
import { readObject } from './read-object.ts'
import { refuse } from './refuse.ts'
import { storeArtifact } from './store-artifact.ts'

/**
 * Fits and cross-validates a logistic regression that tells one value of a column of input `table` (JSON rows, CSV text,
 * or the object ref of either) by the columns in input `columns`, else those of the config, else all others. Outputs, by
 * name: record (markers), model and metrics; `artifact` of the config keeps the model in the run.
 */
export const classifyTable: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const { label, positive, folds, artifact } = configOf('classify-table', call)
    const table = readTable(await tableOf(call))
    if ('problem' in table) {
      throw refused(call, `its input is no table: ${table.problem}. Give JSON rows (a list of objects) or CSV.`)
    }
    const found = classify(table, { label, positive, folds, columns: columnsOf(call, table, label) })
    if ('problem' in found) throw refused(call, `${found.problem}. Mend deterministic.config or the data.`)
    const { model, metrics } = told(found)
    const kept = artifact === undefined ? undefined : await keepModel(call, artifact, model)
    const values: Record<string, Json> = { record: classifierRecord(found, kept), model, metrics }
    return Object.fromEntries(Object.entries(values).filter(([port]) => Object.hasOwn(call.outputs, port)))
  },
}

async function tableOf(call: HandlerCall): Promise<Json> {
  const value = pickInput(call, 'classify-table', 'table')
  const bytes = await readObject(call, value)
  return bytes === undefined ? value : new TextDecoder().decode(bytes)
}

function columnsOf(call: HandlerCall, table: Table, label: string): readonly string[] {
  const given = Object.hasOwn(call.inputs, 'columns') ? call.inputs.columns : undefined
  const { columns = [...table.columns.keys()].filter((name) => name !== label) } = configOf('classify-table', call)
  if (given === undefined || given === null) return columns
  if (Array.isArray(given) && given.length > 0 && given.every((one) => typeof one === 'string'))
    return [...new Set(given)]
  throw refused(call, 'its input "columns" is no list of names of columns.')
}

function told({ label, positive, columns, weights, intercept, ...metrics }: Classification) {
  const { difference: _, ...measured } = metrics
  const model: Json = {
    kind: 'logistic_regression',
    label,
    positive,
    columns,
    intercept,
    weights: weights.map(({ name, weight }) => ({ name, weight })),
  }
  return { model, metrics: { ...measured, columns } satisfies Json }
}

async function keepModel(call: HandlerCall, name: string, model: Json) {
  const { ref } = await storeArtifact(call, { name, value: model, media_type: 'application/json' })
  return { name, sha256: ref.slice(ref.lastIndexOf('/') + 1) }
}

function refused(call: HandlerCall, what: string): Error {
  return refuse(call, 'classify-table', 'classify_table_failed', what)
}
