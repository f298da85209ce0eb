import type { Block } from '../../../shared/dag/dag.ts'

/** A research run that can be looked at from here. */
export interface ResearchRun {
  readonly run_id: string
  /** The block that asked; undefined: the run itself is the research. */
  readonly block: string | undefined
}

interface Asked {
  readonly run: { readonly run_id: string; readonly role: string }
  /** Of the document, in its order. */
  readonly definitions: readonly Pick<Block, 'id' | 'mode'>[]
  readonly blocks: Readonly<Record<string, { readonly child?: string }>>
}

/** The run itself where it is a research run, else the children its research blocks asked. */
export function researchRuns({ run, definitions, blocks }: Asked): readonly ResearchRun[] {
  if (run.role === 'research_pipeline') return [{ run_id: run.run_id, block: undefined }]
  return definitions.flatMap(({ id, mode }) => {
    const child = mode === 'research' && Object.hasOwn(blocks, id) ? blocks[id]?.child : undefined
    return child === undefined ? [] : [{ run_id: child, block: id }]
  })
}
