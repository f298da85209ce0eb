import type { RunKey } from '../../shared/runs/run-store.ts'
import type { Act } from './acts.ts'
import { callRoute } from './call-route.ts'
import { LONGEST_HOLD_MS, releaseStarts, stopEverything } from './hold-starts.ts'
import type { System } from './system.ts'
import type { HeadChange } from './until-head.ts'

/** How long somebody waits for runs that end partial, and how many of them are taken. */
const PATIENCE_MS = 120_000
const MOST = 4
/** Somebody else's steps. */
const MOST_TURNS = 24

/**
 * The next attempt at the goal of each run of the tenant that ends partial, at that very moment. For some the starts are put on hold then; else, `crowded`: others want its place
 * too, and those that have one are stopped, so that it becomes free while the attempt is put into the queue.
 */
export async function pivotAtOnce(system: System, { id, dice }: Act, tenant: string, crowded: boolean): Promise<void> {
  const { lookers, runs, sim } = system
  const asked: Promise<unknown>[] = []
  const look = ({ run_id, was, head }: HeadChange) => {
    const isNew = head.state === 'partial' && was?.state === 'running'
    if (!isNew || runs.get(run_id)?.tenant !== tenant || asked.length === 2 * MOST) return
    const n = asked.length / 2
    asked.push(pivot(run_id, Math.floor(((dice[0] + n / MOST) % 1) * MOST_TURNS)))
    if (n % 2 === Math.round(dice[2])) asked.push(held(n))
    else asked.push(crowded ? crowd(n) : Promise.resolve())
  }
  const change = (name: string, { run_id }: Pick<RunKey, 'run_id'>) =>
    callRoute(system, name, { tenant, params: { run_id }, body: {} })
  const pivot = async (run_id: string, turns: number) => {
    await pass(system, turns)
    await change('pivot-run', { run_id })
  }
  const crowd = async (n: number) => {
    const start = (key: string) => callRoute(system, 'start-run', { tenant, params: {}, body: CHILD, key })
    await Promise.all([1, 2, 3].map((beside) => start(`beside-${id}-${n}-${beside}`)))
    for (let left = MOST; left > 0; left -= 1) {
      const stops = activeOf(system, tenant).map(async (active, i) => {
        await pass(system, Math.floor(((dice[1] + i / 2) % 1) * MOST_TURNS))
        await change('stop-run', active)
      })
      await Promise.all(stops)
    }
  }
  const held = async (n: number) => {
    await pass(system, Math.floor(((dice[1] + n / MOST) % 1) * MOST_TURNS))
    await stopEverything(system, tenant, true)
    await sim.scheduler.delay(dice[2] * LONGEST_HOLD_MS)
    await releaseStarts(system, tenant)
  }
  lookers.add(look)
  await sim.scheduler.delay(PATIENCE_MS)
  lookers.delete(look)
  await Promise.all(asked)
}

const CHILD = { name: 'child', inputs: { note: 'by name' } }

async function pass({ sim }: System, turns: number): Promise<void> {
  for (let left = turns; left > 0; left -= 1) await sim.scheduler.turn()
}

/** Those that have a place. */
function activeOf({ runs, heads }: System, tenant: string): readonly RunKey[] {
  return [...runs.values()].filter((run) => {
    const head = heads.get(run.run_id)
    return run.tenant === tenant && head?.state === 'running' && head.queued !== true
  })
}
