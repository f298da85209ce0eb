import type { Json } from '../../shared/canonical.ts'
import { readContext } from './read-context.ts'
import { readFile } from './read-file.ts'

/** What a start request takes from files: free values, and a goal contract as its text, which the server reads. */
export function requestFiles(files: { readonly contextJson?: string; readonly goalContract?: string }): {
  readonly context: Readonly<Record<string, Json>>
  readonly goal_contract?: string
} {
  const { contextJson, goalContract } = files
  const contract = goalContract === undefined ? {} : { goal_contract: readFile(goalContract, 'goal contract') }
  return { context: readContext(contextJson), ...contract }
}
