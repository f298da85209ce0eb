import { Fault } from '../../shared/errors.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/**
 * Starts the execution of a run whose HEAD and META exist, on the machine META names; started before counts as done.
 * A failure leaves the outbox entry for the sweeper and is logged, not thrown: the run exists.
 */
export async function launchRun(world: Pick<World, 'runs' | 'machine' | 'log'>, run: RunKey): Promise<void> {
  const meta = await world.runs.meta(run)
  if (meta === undefined) throw new Fault('Bug', 'meta_missing', `Run "${run.run_id}" has no META to start from.`)
  try {
    const input = { v: 1, tenant: run.tenant, run_id: run.run_id } as const
    await world.machine.start({ machine: meta.machine, name: run.run_id, input })
    await world.runs.settleOutbox(run, ['start'])
  } catch (error) {
    world.log.error('execution not started; the sweeper will', { run_id: run.run_id, error: String(error) })
  }
}
