import type { Principal } from '../../shared/auth/principal.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../record/pinned-run.ts'
import { requireRun } from '../require-run.ts'

/** The run another one continues: its shared context, and the first run of their lineage. */
export interface ContinuedRun {
  readonly run_id: string
  readonly root: string
  readonly run: RunKey
  readonly meta: Meta
  readonly values: Readonly<Record<string, Json>>
}

/**
 * The run a run goes on from, which has to have ended, so that nothing of it changes any more. A DAG that moves a task
 * takes one only from a run that moved it. Fault NotFound unknown_run (another tenant's too), Conflict run_not_ended.
 */
export async function readContinuedRun(
  world: Pick<World, 'runs' | 'objects'>,
  principal: Pick<Principal, 'tenant'>,
  { dag, continues }: { readonly dag: Dag; readonly continues: string | undefined },
): Promise<ContinuedRun | undefined> {
  if (continues === undefined) return undefined
  const { run, head } = await requireRun(world, { principal, params: { run_id: continues } })
  if (head.state !== 'running') {
    const { meta } = await readPinned(world, run)
    const values = await valuesOf(world, run, dag)
    return { run_id: continues, root: meta.root ?? continues, run, meta, values }
  }
  const message = `Cannot continue run "${continues}": it has not ended. Wait for it with \`sluice run watch\`, or stop it.`
  throw new Fault('Conflict', 'run_not_ended', message, { facts: { run_id: continues } })
}

async function valuesOf(world: Pick<World, 'runs' | 'objects'>, run: RunKey, dag: Dag) {
  const values = (await world.runs.context(run))?.values ?? {}
  if (dag.task_gates === undefined || (await readPinned(world, run)).dag.task_gates !== undefined) return values
  const { task: _, ...others } = values
  return others
}

/**
 * Gives a run the artifacts of the one it continues, before its machine starts, so that all of it is there for its
 * first block; a repeat finds them. They are stored once more: an object lives from when it was last written. What is
 * gone by then stays away. Attempt 0: any block of this run may replace one.
 */
export async function takeArtifacts(world: Pick<World, 'runs' | 'objects'>, meta: Meta): Promise<void> {
  const { tenant, run_id, continues } = meta
  if (continues === undefined) return
  const there = new Set((await world.runs.artifacts({ tenant, run_id })).map(({ name }) => name))
  for (const item of await world.runs.artifacts({ tenant, run_id: continues })) {
    if (there.has(item.name)) continue
    const body = await world.objects.get(tenant, item.ref).catch(whenGone)
    if (body === undefined) continue
    await world.objects.put(tenant, body)
    const { epoch: _, ...whole } = item
    const from_run = item.from_run ?? continues
    await world.runs.putArtifact({ tenant, run_id }, { ...whole, attempt: 0, from_run })
  }
}

function whenGone(error: unknown): undefined {
  if (error instanceof Fault && error.name === 'NotFound') return undefined
  throw error
}
