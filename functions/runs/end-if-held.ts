import type { RunKey } from '../../shared/runs/run-store.ts'
import type { StartHold } from '../../shared/runs/start-hold.ts'
import type { World } from '../../shared/world.ts'
import { endRun } from './end-run.ts'
import { holdWords } from './refuse-held.ts'

/**
 * Cancels a run that was let in while starts were put on hold, and answers the hold: who holds them stops the runs there
 * are after that, so a run that exists before is found by them, and one that exists later is found here.
 */
export async function endIfHeld(
  world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>,
  run: RunKey,
): Promise<StartHold | undefined> {
  const hold = await world.runs.startHold(run.tenant)
  if (hold === undefined) return undefined
  const reason = `starts are on hold ${holdWords(hold)}`
  await endRun(world, run, { state: 'cancelled', code: 'starts_on_hold', reason, stop: true })
  return hold
}
