import type { EntityOutcome } from '../../shared/graph/graph-store.ts'
import type { World } from '../../shared/world.ts'

/** Writes, and has what changed indexed soon. */
export async function writeGraph(
  { outbox }: Pick<World, 'outbox'>,
  tenant: string,
  items: readonly unknown[],
  write: () => Promise<readonly EntityOutcome[]>,
): Promise<readonly EntityOutcome[]> {
  if (items.length === 0) return []
  const outcomes = await write()
  const changed = outcomes.some(({ outcome }) => outcome !== 'unchanged' && outcome !== 'absent')
  if (changed) await outbox.graphWork({ tenant })
  return outcomes
}
