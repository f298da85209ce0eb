import { Fault } from '../../shared/errors.ts'
import { type Principal, principalName } from '../../shared/principal.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { endRun } from './end-run.ts'

/** Cancels a run at once: the terminal state first, then the execution. Conflict run_ended when it is over. */
export async function stopRun(
  world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>,
  run: RunKey,
  principal: Principal,
  reason?: string,
): Promise<void> {
  const words = `stopped by ${principalName(principal)}${reason === undefined ? '' : `: ${reason}`}`
  const done = await endRun(world, run, { state: 'cancelled', code: 'stopped', reason: words, stop: true })
  if (done.ok) return
  if (done.because === 'unknown_run') {
    const message = `Cannot stop run "${run.run_id}": there is no such run. \`sluice run list\` shows the runs there are.`
    throw new Fault('NotFound', 'unknown_run', message)
  }
  const state = (await world.runs.head(run, []))?.state
  throw new Fault('Conflict', 'run_ended', `Cannot stop run "${run.run_id}": it is already ${state}.`)
}
