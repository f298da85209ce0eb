import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { callRoute } from './call-route.ts'
import type { System } from './system.ts'

export const LONGEST_HOLD_MS = 60_000

/** Faults end within eight minutes. */
const MOST_ASKED = 10

/** Who is told that it failed, or nothing, asks again. */
export async function releaseStarts(system: System, tenant: string): Promise<void> {
  for (let left = MOST_ASKED; left > 0; left -= 1) {
    const reply = await callRoute(system, 'release-starts', { tenant, params: {}, body: {} })
    if (reply?.status === 200) return
    await system.sim.scheduler.delay(60_000)
  }
}

/** Looks each minute as long as a run goes on. */
export async function releaseOnceOneWaits(system: System, tenant: string): Promise<void> {
  for (;;) {
    const heads = await headsOf(system, tenant)
    const live = heads.filter((head) => head?.state === 'running')
    if (live.length === 0) return
    if (live.some((head) => head?.queued === true)) return releaseStarts(system, tenant)
    await system.sim.scheduler.delay(60_000)
  }
}

/** 35: once it says that nothing is left, none of the runs there were is active. */
export async function stopEverything(system: System, tenant: string, hold: boolean): Promise<void> {
  const before = await activeRuns(system, tenant)
  const ask = () => callRoute(system, 'stop-all', { tenant, params: {}, body: hold ? { hold } : {} })
  let reply = await ask()
  // Who holds the starts and is told nothing asks again: what waits in the queue would wait for ever.
  for (let left = MOST_ASKED; hold && left > 0 && reply?.status !== 200; left -= 1) {
    await system.sim.scheduler.delay(60_000)
    reply = await ask()
  }
  if (reply?.status !== 200 || reply.json.left !== 0) return
  const after = await activeRuns(system, tenant)
  const left = before.filter((id) => after.includes(id))
  if (left.length > 0) system.sim.violate(35, `still active after stop-all: ${left.join(', ')}`)
}

async function activeRuns(system: System, tenant: string): Promise<readonly string[]> {
  const heads = await headsOf(system, tenant)
  return keysOf(system, tenant).flatMap(({ run_id }, i) => (heads[i]?.state === 'running' ? [run_id] : []))
}

function headsOf(system: System, tenant: string): Promise<readonly (Head | undefined)[]> {
  return Promise.all(keysOf(system, tenant).map((key) => system.raw.head(key, [])))
}

function keysOf({ runs }: System, tenant: string): readonly RunKey[] {
  return [...runs.values()].filter((key) => key.tenant === tenant)
}
