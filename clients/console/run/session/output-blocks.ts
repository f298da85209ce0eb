import type { Block } from '../../../../shared/dag/dag.ts'

type Known = Pick<Block, 'id' | 'upstream' | 'outputs'>

/** Blocks with outputs: those nobody waits for first (what the run was made for), each group as in the document. */
export function outputBlocks(blocks: readonly Known[]): {
  readonly results: readonly string[]
  readonly between: readonly string[]
} {
  const waitedFor = new Set(blocks.flatMap(({ upstream }) => upstream))
  const withOutputs = blocks.filter(({ outputs }) => Object.keys(outputs).length > 0).map(({ id }) => id)
  return {
    results: withOutputs.filter((id) => !waitedFor.has(id)),
    between: withOutputs.filter((id) => waitedFor.has(id)),
  }
}
