import type { RunSession } from '../run-session.ts'
import { type ResearchRun, researchRuns } from './research-runs.ts'
import { documentOf } from './run-document.ts'

/** What research there is to see of the run as it is now. */
export function researchOf({ answer: { value } }: RunSession): readonly ResearchRun[] {
  if (value === undefined) return []
  return researchRuns({ run: value.run, blocks: value.blocks, definitions: documentOf(value)?.blocks ?? [] })
}
