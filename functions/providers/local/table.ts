import type { Json } from '../../../shared/canonical.ts'
import { describeTable } from '../../../shared/table/describe.ts'
import { readTable, type Table } from '../../../shared/table/table.ts'
import { tableWords } from '../../../shared/table/words.ts'
import type { Tool } from './tool.ts'

/**
 * Model `table`: statistics, in words, of the first input that is a table: JSON rows, or CSV text of at least two
 * columns. As a value: the statistics themselves (shared/table/describe.ts).
 */
export const table: Tool = ({ inputs }) => {
  for (const value of Object.values(inputs)) {
    const found = tableIn(value)
    const stats = found === undefined ? undefined : describeTable(found)
    if (stats === undefined || 'problem' in stats) continue
    // Plain JSON by construction; interfaces have no index signature for TypeScript to see it.
    return { text: tableWords(stats), value: stats as unknown as Json, bullet: '', reserve: [] }
  }
  const names = Object.keys(inputs).join(', ') || 'none'
  return {
    problem: `none of its inputs (${names}) is a table. Wire JSON rows or CSV text with a header line into one.`,
  }
}

function tableIn(value: Json): Table | undefined {
  const read = readTable(value)
  if ('problem' in read) return undefined
  return typeof value === 'string' && read.columns.size < 2 ? undefined : read
}
