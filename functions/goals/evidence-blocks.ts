import { judgingBlocks } from '../../shared/dag/completion.ts'
import type { Block, Dag } from '../../shared/dag/dag.ts'
import type { Standing } from './standing-blocks.ts'

/**
 * The standing blocks that speak for the goal of their run. Those that judge it do not, nor do approvals: what a person
 * says with a decision is no measurement, also where it looks like one. Nor do blocks that only read: a file that was
 * brought along, a stored body, what the research chain found are somebody else's words.
 */
export function evidenceBlocks(
  { blocks, completion }: Pick<Dag, 'blocks' | 'completion'>,
  standing: readonly Standing[],
): readonly Standing[] {
  const judging = completion === undefined ? new Set<string>() : judgingBlocks(completion)
  const silent = new Set(blocks.filter((block) => block.mode === 'approval' || onlyReads(block)).map(({ id }) => id))
  return standing.filter(({ block }) => !judging.has(block) && !silent.has(block))
}

function onlyReads(block: Block): boolean {
  return block.mode === 'research' || (block.mode === 'deterministic' && READERS.has(block.handler))
}

const READERS: ReadonlySet<string> = new Set(['read-input', 'read-object'])
