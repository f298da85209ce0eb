import type { BounceModule } from '../../shared/dag/bounce-modules.ts'
import { blockOutcome } from '../../shared/runs/block-lane.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { Pinned } from './read-pinned.ts'

/**
 * Blocks of a module that were skipped, and that come after blocks which now begin again: why they were skipped may no
 * longer hold, so they are asked again. What completed or failed stays as it is.
 */
export function skippedAgain(
  pinned: Pinned,
  head: Head,
  module: BounceModule,
  reset: ReadonlySet<string>,
): readonly string[] {
  const after = new Set(reset)
  const upstreamOf = (id: string) => pinned.dag.blocks[pinned.index.get(id) ?? -1]?.upstream ?? []
  for (const id of after) {
    for (const other of module.blocks) if (upstreamOf(other).includes(id)) after.add(other)
  }
  return [...after].filter((id) => !reset.has(id) && blockOutcome(pinned, head, id) === 'skipped')
}
