import { Fault } from '../../shared/errors.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/**
 * Starts the execution of a run whose HEAD and META exist, on the machine META names; started before counts as done.
 * Only here is the `start` entry of the outbox removed: whoever fails to start leaves it for the sweeper.
 */
export async function launchRun(world: Pick<World, 'runs' | 'machine'>, run: RunKey): Promise<void> {
  const meta = await world.runs.meta(run)
  if (meta === undefined) throw new Fault('Bug', 'meta_missing', `Run "${run.run_id}" has no META to start from.`)
  const input = { v: 1, tenant: run.tenant, run_id: run.run_id } as const
  await world.machine.start({ machine: meta.machine, name: run.run_id, input })
  await world.runs.settleOutbox(run, ['start'])
}
