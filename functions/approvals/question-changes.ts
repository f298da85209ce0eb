import { runChanges } from '../../shared/approvals/find-changes.ts'
import type { ChangesAbove } from '../../shared/approvals/run-changes.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { allEvents } from '../runs/all-events.ts'
import { readPinned } from '../runs/read-pinned.ts'

type ReadWorld = Pick<World, 'runs' | 'objects'>

/**
 * In what a run, and each run above it, differs from a plain start of its deployed document: a question of a child run
 * lets the blocks of those go on too. Events are read only where the context was ever patched.
 */
export async function questionChanges({
  world,
  run,
}: {
  readonly world: ReadWorld
  readonly run: RunKey
}): Promise<Pick<ApprovalItem, 'changes'>> {
  const { meta } = await readPinned(world, run)
  const own = await changesOf(world, run)
  const above: ChangesAbove[] = []
  for (let parent = meta.parent; parent !== undefined; ) {
    const key = { tenant: run.tenant, run_id: parent.run_id }
    const { meta: of } = await readPinned(world, key)
    const changes = await changesOf(world, key)
    if (changes !== undefined) above.push({ run_id: of.run_id, dag_name: of.dag_name, ...changes })
    parent = of.parent
  }
  if (own === undefined && above.length === 0) return {}
  return { changes: { ...own, ...(above.length === 0 ? {} : { above }) } }
}

async function changesOf(world: ReadWorld, run: RunKey) {
  const { meta } = await readPinned(world, run)
  const context = await world.runs.context(run)
  const events = (context?.version ?? 0) > 0 ? await allEvents(world, run) : []
  return runChanges(meta, events)
}
