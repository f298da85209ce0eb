import type { QualityProfile } from '../goals/quality/quality-rule.ts'
import type { Dag } from './dag.ts'

/** What decides how a run ends, as its document has it (docs/dag.md, "Completion"); refs are `block.output`. */
export interface CompletionSettings {
  /** Outputs that are trust scores, or have one: at least one. Absent = no verifier, and the trust gate fails. */
  readonly trust?: { readonly from: readonly string[] }
  readonly quality: QualityProfile
  /** Who starts the next attempt at a goal that was not met: a person, or the run itself. */
  readonly pivot: 'manual' | 'auto'
  /** `required`: a run without a goal contract is refused at its start. */
  readonly contract: 'required' | 'optional'
  /** The status the workers claim; absent = SUCCESS. */
  readonly claim?: string
  /** What keeps the goal from being met: a list of texts. */
  readonly blockers?: string
}

/** Of a document without the section, whose run has a contract all the same. */
export const DEFAULT_COMPLETION: CompletionSettings = { quality: 'standard', pivot: 'manual', contract: 'optional' }

/** Whether runs of a document are judged by more than their blocks, whatever their request brings along. */
export function isJudged({ completion, goal_contract }: Pick<Dag, 'completion' | 'goal_contract'>): boolean {
  return completion !== undefined || goal_contract !== undefined
}

/** Ids of the blocks that judge, claim or block: what they say is a verdict, never evidence for the goal. */
export function judgingBlocks({ trust, claim, blockers }: CompletionSettings): ReadonlySet<string> {
  const refs = [...(trust?.from ?? []), claim, blockers].filter((ref) => ref !== undefined)
  return new Set(refs.map((ref) => ref.slice(0, ref.indexOf('.'))))
}
