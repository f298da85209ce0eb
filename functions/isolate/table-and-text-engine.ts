import { type ParsedText, parseTextInProcess, type TextFormat } from '../../shared/gates/parse-json-csv.ts'
import { type Classification, type ClassifyQuestion, fitClassifier } from '../../shared/table/logistic-classifier.ts'
import { type TableQuestion, type TableStats, tableStatistics } from '../../shared/table/statistics.ts'
import { readTable } from '../../shared/table/tabular-data.ts'
import type { Job } from './isolate-messages.ts'

/** What came of it; `problem` = the table cannot be asked that. */
export type ClassifyAnswer = Classification | { readonly problem: string }

/** `not_a_table`: what was given is none; `problem`: it cannot be asked that. */
export type DescribeAnswer = TableStats | { readonly not_a_table: string } | { readonly problem: string }

/** Reads a table or a text and answers what is asked of it, as JSON text. */
export function runDataJob(job: Job): string {
  return JSON.stringify(answerOf(job))
}

// Handlers and gates are the only callers, and checked what they ask.
function answerOf({ kind, program, input }: Job): ClassifyAnswer | DescribeAnswer | ParsedText {
  if (kind === 'classify') return classified(readTable(input), program as unknown as ClassifyQuestion)
  if (kind === 'describe') return described(readTable(input), program as unknown as TableQuestion)
  return parseTextInProcess(program as TextFormat, String(input))
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
