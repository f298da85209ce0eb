import type { TableStats } from '../../../shared/table/statistics.ts'
import { tableSentences } from '../../../shared/table/table-sentences.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { DescribeAnswer } from '../../isolate/table-and-text-engine.ts'
import { type BlockHandler, type HandlerCall, handlerFault, isolateOf, pickInput, readConfig } from './block-handler.ts'
import { readObjectRef } from './store-artifact.ts'

/**
 * Descriptive statistics of input `table` (or the one input): JSON rows, CSV text, or the object ref of either. The
 * json output takes everything (shared/table/statistics.ts); a string output takes it as sentences with numbers.
 */
export const tableStats: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const question = readConfig('table-stats', call)
    const program = Object.fromEntries(Object.entries(question).filter(([, value]) => value !== undefined)) as Json
    const answer = await isolateOf(call).run('describe', { program, input: await tableOf(call) }, LIMIT)
    call.signal.throwIfAborted()
    if (!answer.ok) throw refused(call, `the statistics stopped (${answer.because}): ${answer.message}.`)
    // What the engine of that kind answers.
    const stats = answer.value as unknown as DescribeAnswer
    if ('not_a_table' in stats) {
      throw refused(
        call,
        `its input is no table: ${stats.not_a_table}. Give JSON rows (a list of objects) or CSV with a header line.`,
      )
    }
    if ('problem' in stats) throw refused(call, `${stats.problem}. Mend deterministic.config.`)
    return Object.fromEntries(
      Object.entries(call.outputs).map(([port, { type }]) => [port, answerFor(call, type, stats)]),
    )
  },
}

/** A table of 10 MiB takes some seconds, with nobody else waiting. */
const LIMIT = { ms: 30_000, mb: 512 }

async function tableOf(call: HandlerCall): Promise<Json> {
  const value = pickInput(call, 'table-stats', 'table')
  const bytes = await readObjectRef(call, value)
  return bytes === undefined ? value : new TextDecoder().decode(bytes)
}

function answerFor(call: HandlerCall, type: string, stats: TableStats): Json {
  // Plain JSON by construction; interfaces have no index signature for TypeScript to see it.
  if (type === 'json') return stats as unknown as Json
  if (type === 'string') return tableSentences(stats)
  throw refused(call, `an output is ${type}; allowed are json (everything) and string (in words).`)
}

function refused(call: HandlerCall, what: string): Error {
  return handlerFault(call, 'table-stats', 'table_stats_failed', what)
}
