import { allEvents } from '../../functions/runs/all-events.ts'
import { readPinned } from '../../functions/runs/read-pinned.ts'
import type { StoredRun } from '../../shared/runs/invariants/stored-run.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/** All a run at rest is made of, straight from the ports of its place. */
export async function readStoredRun(world: World, run: RunKey): Promise<Required<Omit<StoredRun, 'before'>>> {
  const { runs, objects, machine, isolate } = world
  const { meta, dag } = await readPinned(world, run)
  const events = await allEvents(world, run)
  const head = await runs.head(run)
  const context = await runs.context(run)
  if (head === undefined || context === undefined) throw new Error(`no HEAD or context of ${run.run_id}`)
  return {
    meta,
    dag,
    events,
    head,
    context,
    projections: [...(await runs.projections(run)), ...(await itemsOf(world, run, dag.blocks))],
    approvals: await runs.approvals(run),
    artifacts: await runs.artifacts(run),
    execution: (await machine.describe(meta.machine, run.run_id)) ?? null,
    read: (ref) => objects.get(run.tenant, ref).catch(() => undefined),
    isolate,
    max_attempts: world.settings.safety.max_attempts,
  }
}

async function itemsOf(
  { runs }: World,
  run: RunKey,
  blocks: readonly { readonly index: number; readonly foreach?: object }[],
): Promise<readonly BlockProjection[]> {
  const over = blocks.filter(({ foreach }) => foreach !== undefined)
  return (await Promise.all(over.map(({ index }) => runs.itemProjections(run, index)))).flat()
}
