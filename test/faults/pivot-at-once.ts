import type { Act } from './acts.ts'
import { callRoute } from './call-route.ts'
import type { System } from './system.ts'
import type { HeadChange } from './until-head.ts'

/** How long somebody waits for runs that end partial, and how many of them are taken. */
const PATIENCE_MS = 240_000
const MOST = 4
/** Somebody else's steps, of which the last ones give the place of the run away. */
const MOST_TURNS = 12

/**
 * The next attempt at the goal of each run of the tenant that ends partial, asked for at that very moment: its place is
 * not free yet, and becomes so while the attempt is put into the queue.
 */
export async function pivotAtOnce(system: System, { dice }: Act, tenant: string): Promise<void> {
  const { lookers, runs, sim } = system
  const asked: Promise<unknown>[] = []
  const look = ({ run_id, was, head }: HeadChange) => {
    const isNew = head.state === 'partial' && was?.state === 'running'
    if (!isNew || runs.get(run_id)?.tenant !== tenant || asked.length === MOST) return
    asked.push(pivot(run_id, Math.floor(((dice[0] + asked.length / MOST) % 1) * MOST_TURNS)))
  }
  const pivot = async (run_id: string, turns: number) => {
    for (let left = turns; left > 0; left -= 1) await sim.scheduler.turn()
    await callRoute(system, 'pivot-run', { tenant, params: { run_id }, body: {} })
  }
  lookers.add(look)
  await sim.scheduler.delay(PATIENCE_MS)
  lookers.delete(look)
  await Promise.all(asked)
}
