import { Fault } from '../../shared/errors.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import { wants } from '../../shared/webhooks/endpoint-entry.ts'
import type { World } from '../../shared/world.ts'
import { kickOff } from '../research/kick-off.ts'
import { takeArtifacts } from './continued-run.ts'
import { endIfHeld } from './end-if-held.ts'
import { endRun } from './end-run.ts'
import { endUnawaited, isAwaited } from './is-awaited.ts'
import { linkLineage } from './link-lineage.ts'
import { startExecution } from './start-execution.ts'

type LaunchWorld = Pick<World, 'runs' | 'objects' | 'graph' | 'machine' | 'outbox' | 'clock' | 'settings'>

/**
 * Starts the execution of a run whose HEAD and META exist, on the machine META names; started before counts as done.
 * Only here is the `start` entry of the outbox removed: whoever fails to start leaves it for the sweeper. A run that
 * has ended owes no start, a child nobody waits for and a run that starts are held from are cancelled, and one whose
 * machine refuses it for good fails in those words.
 */
export async function launchRun(world: LaunchWorld, run: RunKey): Promise<void> {
  const meta = await world.runs.meta(run)
  if (meta === undefined) throw new Fault('Bug', 'meta_missing', `Run "${run.run_id}" has no META to start from.`)
  const head = await world.runs.head(run, [])
  if (head?.state === 'running') {
    if (!(await isAwaited(world, meta))) await endUnawaited(world, meta)
    else if (meta.parent !== undefined || (await endIfHeld(world, run)) === undefined) await start(world, run, meta)
  }
  await world.runs.settleOutbox(run, ['start'])
  const { webhooks } = world.settings
  // Whoever owes nothing else is not nudged by its birth.
  if (webhooks.some((endpoint) => endpoint.tenant === run.tenant && wants(endpoint, 'run:started')))
    await world.outbox.nudge(run)
}

async function start(world: LaunchWorld, run: RunKey, meta: Meta): Promise<void> {
  await linkLineage(world, meta)
  await takeArtifacts(world, meta)
  await begin(world, run, meta).catch((error: unknown) => refused(world, run, error))
}

async function begin(world: LaunchWorld, run: RunKey, meta: Meta): Promise<void> {
  if (meta.kind === 'research') await kickOff(world, meta)
  await startExecution(world, run, meta)
}

/** No such machine, or one this place cannot run: no later try will find it otherwise. */
async function refused(world: LaunchWorld, run: RunKey, error: unknown): Promise<void> {
  if (!(error instanceof Fault && (error.name === 'NotFound' || error.name === 'InvalidInput'))) throw error
  const reason = `its execution could not be started: ${error.message.slice(0, 600).toWellFormed()}`
  await endRun(world, run, { state: 'failed', code: error.code, reason, stop: false })
}
