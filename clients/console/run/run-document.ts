import type { Block, Dag } from '../../../shared/dag/dag.ts'
import type { RunAnswer } from '../run-session.ts'

/** The document the run was pinned to. The API's schema leaves its members open; the server writes what shared reads. */
export function documentOf(answer: RunAnswer | undefined): Dag | undefined {
  return answer?.dag as Dag | undefined
}

export function blockOf(answer: RunAnswer | undefined, id: string): Block | undefined {
  return documentOf(answer)?.blocks?.find((block) => block.id === id)
}
