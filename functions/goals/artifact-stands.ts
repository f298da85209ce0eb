import type { ArtifactItem } from '../../shared/runs/run-items.ts'
import type { Standing } from './standing-blocks.ts'

/**
 * Whether an artifact is what its block completed with: written by the attempt that stands, of a fan-out by that of its
 * item. What a failed item wrote stays with the run, and says nothing for it.
 */
export function artifactStands(
  { attempt, epoch = 0, item }: ArtifactItem,
  standing: Pick<Standing, 'attempt' | 'epoch' | 'items'> | undefined,
): boolean {
  if (standing === undefined || standing.epoch !== epoch) return false
  const { items } = standing
  if (items === undefined) return standing.attempt === attempt
  // Stored before artifacts named their item.
  if (item === undefined) return true
  const own = items[item]
  return own?.state === 'completed' && own.attempt === attempt
}
