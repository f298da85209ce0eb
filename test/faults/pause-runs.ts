import type { Act } from './acts.ts'
import { callRoute } from './call-route.ts'
import type { SimulatedRun } from './plan-runs.ts'
import type { System } from './system.ts'
import { untilHead } from './until-head.ts'

const LONGEST_PAUSE_MS = 120_000
const PATIENCE_MS = 240_000
/** Faults end within eight minutes. */
const MOST_ASKED = 10

/**
 * A run is paused, at once as it has moved or at any time, and let go on a while later: who is told that it failed, or
 * nothing, asks again. Now and then its document is paused too, so that nobody starts another.
 */
export async function pauseForAWhile(system: System, { dice }: Act, run: SimulatedRun): Promise<void> {
  let before = Math.floor(dice[0] * 12)
  const moved = () => {
    before -= 1
    return before < 0 ? true : undefined
  }
  if ((await untilHead(system, run.run_id, PATIENCE_MS, moved)) === undefined) return
  const of = { tenant: run.tenant, params: { run_id: run.run_id } }
  const names = dice[2] < 0.2
  if (names) await changeDocument(system, run.tenant, true)
  await callRoute(system, 'pause-run', { ...of, body: { reason: 'something looks odd' } })
  await system.sim.scheduler.delay(dice[1] ** 2 * LONGEST_PAUSE_MS)
  for (let left = MOST_ASKED; left > 0; left -= 1) {
    const reply = await callRoute(system, 'resume-run', { ...of, body: {} })
    // Not paused, ended, or never there.
    if (reply !== undefined && (reply.status === 200 || reply.status === 404 || reply.status === 409)) break
    await system.sim.scheduler.delay(60_000)
  }
  if (names) await changeDocument(system, run.tenant, false)
}

/** The document that is started by its name. */
async function changeDocument(system: System, tenant: string, paused: boolean): Promise<void> {
  for (let left = paused ? 1 : MOST_ASKED; left > 0; left -= 1) {
    const reply = await callRoute(system, 'change-document', { tenant, params: { name: 'child' }, body: { paused } })
    if (reply?.status === 200) return
    await system.sim.scheduler.delay(60_000)
  }
}
