import type { ComponentChildren } from 'preact'
import type { Block } from '../../../../shared/dag/dag.ts'
import type { BlockFold } from '../../../../shared/runs/run-fold.ts'
import type { operations } from '../../../api/schema.generated.ts'
import { blockOf, type RunAnswer, type RunSession } from '../session/run-session.ts'

/** One attempt as GET .../blocks/:id tells it, with inputs, calls and verdicts. */
export type BlockAttempt = operations['get-block']['responses'][200]['content']['application/json']['attempts'][number]

type BlockAnswer = RunAnswer['blocks'][string]

/** The chosen block at the moment shown: its definition, what its events fold to, and the server's answer. */
export interface Inspected {
  readonly definition: Block
  readonly state: string
  /** Absent before the first event that names it. */
  readonly fold: BlockFold | undefined
  /** As of now, also while an earlier moment is shown. */
  readonly answer: BlockAnswer | undefined
  readonly isReplay: boolean
}

/** Undefined: the document has no such block. */
export function inspectBlock(session: RunSession, id: string): Inspected | undefined {
  const answer = session.answer.value
  const definition = blockOf(answer, id)
  if (definition === undefined) return undefined
  const run = session.fold.value
  const fold = Object.hasOwn(run.blocks, id) ? run.blocks[id] : undefined
  const unseen = run.state === 'running' ? 'pending' : 'cancelled'
  return {
    definition,
    state: fold?.state ?? unseen,
    fold,
    answer: answer?.blocks[id],
    isReplay: session.shownSeq.value !== undefined,
  }
}

/** One part of the inspector under its own heading. */
export function InspectorPart({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="inspector-part">
      <h3>{title}</h3>
      {children}
    </section>
  )
}
