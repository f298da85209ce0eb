import { type Classification, type ClassifyQuestion, classify } from '../../shared/table/classify.ts'
import { readTable } from '../../shared/table/table.ts'
import type { Job } from './isolate-messages.ts'

/** What came of it; `problem` = the table cannot be asked that. */
export type ClassifyAnswer = Classification | { readonly problem: string }

/** Fits and cross-validates a model of a table; JSON text of a ClassifyAnswer. */
export function classifyTable({ program, input }: Job): string {
  const table = readTable(input)
  const answer: ClassifyAnswer =
    'problem' in table
      ? { problem: `its input is no table: ${table.problem}; give JSON rows (a list of objects) or CSV` }
      : // The handler is the only caller, and its config was checked.
        classify(table, program as unknown as ClassifyQuestion)
  return JSON.stringify(answer)
}
