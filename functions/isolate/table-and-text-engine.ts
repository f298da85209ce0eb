import { type ParsedText, parseTextInProcess, type TextFormat } from '../../shared/gates/parse-json-csv.ts'
import { TABLE_LIMITS, tooLarge } from '../../shared/table/columns.ts'
import { type Classification, type ClassifyQuestion, fitClassifier } from '../../shared/table/logistic-classifier.ts'
import { type ReadQuestion, type ReadRows, readRows } from '../../shared/table/read-rows.ts'
import { type TableQuestion, type TableStats, tableStatistics } from '../../shared/table/statistics.ts'
import { readTable } from '../../shared/table/tabular-data.ts'
import { type WriteQuestion, type WrittenRows, writeRows } from '../../shared/table/write-rows.ts'
import type { Job } from './isolate-messages.ts'

/** What came of it; `problem` = the table cannot be asked that. */
export type ClassifyAnswer = Classification | { readonly problem: string }

/** `not_a_table`: what was given is none; `problem`: it cannot be asked that. */
export type DescribeAnswer = TableStats | { readonly not_a_table: string } | { readonly problem: string }

/** Reads a table or a text and answers what is asked of it, as JSON text. */
export function runDataJob(job: Job): string {
  const text = JSON.stringify(answerOf(job))
  // The caller has to parse it on its own event loop.
  if (job.kind !== 'read_rows' || text.length <= TABLE_LIMITS.answer_characters) return text
  return JSON.stringify(
    tooLarge(`as JSON its rows have ${text.length} characters, more than`, 'answer_characters', 'characters'),
  )
}

type Answer = ClassifyAnswer | DescribeAnswer | ParsedText | ReadRows | WrittenRows

// Handlers and gates are the only callers, and checked what they ask.
function answerOf({ kind, program, input }: Job): Answer {
  switch (kind) {
    case 'classify':
      return classified(readTable(input), program as unknown as ClassifyQuestion)
    case 'describe':
      return described(readTable(input), program as unknown as TableQuestion)
    case 'read_rows':
      return readRows(input, program as unknown as ReadQuestion)
    case 'write_rows':
      return writeRows(input, program as unknown as WriteQuestion)
    default:
      return parseTextInProcess(program as TextFormat, String(input))
  }
}

/** Fits and cross-validates a model of a table. */
function classified(table: ReturnType<typeof readTable>, question: ClassifyQuestion): ClassifyAnswer {
  if ('problem' in table) {
    return { problem: `its input is no table: ${table.problem}; give JSON rows (a list of objects) or CSV` }
  }
  return fitClassifier(table, question)
}

/** The statistics of a table. */
function described(table: ReturnType<typeof readTable>, question: TableQuestion): DescribeAnswer {
  return 'problem' in table ? { not_a_table: table.problem } : tableStatistics(table, question)
}
