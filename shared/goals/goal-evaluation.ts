import type { CompletionRequest, EvaluatedCompletion } from './evaluate-completion.ts'

/**
 * How a run was judged, as it is stored: what the gates said and everything they were asked with, so that anybody gets
 * the same answer again. `goal:evaluated` has its ref.
 */
export interface GoalEvaluation extends EvaluatedCompletion {
  /** sha256 of the frozen contract; absent = there is none. */
  readonly contract_hash?: string
  readonly request: CompletionRequest
  /** What the run recorded and what was no evidence all the same: an artifact that is not in the object store. */
  readonly left_out?: readonly { readonly artifact: string; readonly why: string }[]
}
