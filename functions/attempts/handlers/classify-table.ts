import { classifierEvidence } from '../../../shared/table/classifier-evidence.ts'
import type { Classification } from '../../../shared/table/logistic-classifier.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { ClassifyAnswer } from '../../isolate/table-and-text-engine.ts'
import { type BlockHandler, type HandlerCall, handlerFault, isolateOf, pickInput, readConfig } from './block-handler.ts'
import { readObjectRef, storeArtifact } from './store-artifact.ts'

/**
 * Fits and cross-validates a logistic regression that tells one value of a column of input `table` (JSON rows, CSV text,
 * or the object ref of either) by the columns in input `columns`, else those of the config, else all others. Outputs, by
 * name: record (markers), model and metrics; `artifact` of the config keeps the model in the run.
 */
export const classifyTable: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const { label, positive, folds, artifact } = readConfig('classify-table', call)
    const columns = columnsOf(call)
    const program = { label, positive, folds, ...(columns === undefined ? {} : { columns: [...columns] }) }
    const answer = await isolateOf(call).run('classify', { program, input: await tableOf(call) }, LIMIT)
    call.signal.throwIfAborted()
    if (!answer.ok) throw refused(call, `the model stopped (${answer.because}): ${answer.message}.`)
    // What the engine of that kind answers.
    const found = answer.value as unknown as ClassifyAnswer
    if ('problem' in found) throw refused(call, `${found.problem}. Mend deterministic.config or the data.`)
    const { model, metrics } = told(found)
    const kept = artifact === undefined ? undefined : await keepModel(call, artifact, model)
    const values: Record<string, Json> = { record: classifierEvidence(found, kept), model, metrics }
    return Object.fromEntries(Object.entries(values).filter(([port]) => Object.hasOwn(call.outputs, port)))
  },
}

/** Many times what the largest table that is allowed takes. */
const LIMIT = { ms: 30_000, mb: 512 }

async function tableOf(call: HandlerCall): Promise<Json> {
  const value = pickInput(call, 'classify-table', 'table')
  const bytes = await readObjectRef(call, value)
  return bytes === undefined ? value : new TextDecoder().decode(bytes)
}

function columnsOf(call: HandlerCall): readonly string[] | undefined {
  const given = Object.hasOwn(call.inputs, 'columns') ? call.inputs.columns : undefined
  if (given === undefined || given === null) return readConfig('classify-table', call).columns
  const named = Array.isArray(given) && given.length > 0 && given.every((one) => typeof one === 'string')
  if (named) return [...new Set<string>(given)]
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
  return handlerFault(call, 'classify-table', 'classify_table_failed', what)
}
