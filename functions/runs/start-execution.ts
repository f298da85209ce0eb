import { compileDag } from '../../shared/compile/compile-dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from './read-pinned.ts'

/**
 * Starts the execution of a run on the machine META names. A retry only named it, and one that waited in the queue may
 * find it gone: then it is made of the run's own document. The machine of a child, and
 * that of a research run, is deployed or not at all.
 */
export async function startExecution(
  world: Pick<World, 'runs' | 'objects' | 'machine'>,
  run: RunKey,
  { machine, parent, dag_hash, kind }: Meta,
): Promise<void> {
  const input = { v: 1, tenant: run.tenant, run_id: run.run_id } as const
  const order = { machine, name: run.run_id, input }
  try {
    await world.machine.start(order)
  } catch (error) {
    const isDeployed = parent !== undefined || kind !== undefined
    if (isDeployed || !(error instanceof Fault) || error.code !== 'machine_unknown') throw error
    const { dag } = await readPinned(world, run).catch((why: unknown) => {
      // Without its document nobody can make it: what is told is what the start asked for.
      throw why instanceof Fault && why.name === 'NotFound' ? error : why
    })
    const { text, parts } = compileDag(dag)
    await world.machine.ensure(text, dag_hash, parts)
    await world.machine.start(order)
  }
}
