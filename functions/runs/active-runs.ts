import { runsPool } from '../../shared/runs/runs-pool.ts'
import type { World } from '../../shared/world.ts'

const PAGE = 500
const TOGETHER = 20

/**
 * Ids of every live run of the tenant, callers' runs before their children: a parent whose child is stopped first would
 * only start another. The list lags behind on AWS, so whoever has a place is asked for too: each run takes its own before
 * it is there.
 */
export async function activeRuns(world: Pick<World, 'runs'>, tenant: string): Promise<readonly string[]> {
  const { roots, children } = await listed(world, tenant)
  const known = new Set(roots)
  const holders = Object.keys(await world.runs.leases(runsPool(tenant))).filter((run_id) => !known.has(run_id))
  return [...roots, ...(await liveOf(world, tenant, holders)), ...children]
}

async function listed({ runs }: Pick<World, 'runs'>, tenant: string) {
  const roots: string[] = []
  const children: string[] = []
  let after: string | undefined
  do {
    const page = await runs.list(tenant, { state: 'running', limit: PAGE, ...(after === undefined ? {} : { after }) })
    for (const { run_id, parent } of page.runs) (parent === undefined ? roots : children).push(run_id)
    after = page.next
  } while (after !== undefined)
  return { roots, children }
}

/** A holder may be one whose HEAD is not there yet, or that has ended and not given its place back. */
async function liveOf({ runs }: Pick<World, 'runs'>, tenant: string, ids: readonly string[]) {
  const live: string[] = []
  for (let i = 0; i < ids.length; i += TOGETHER) {
    const looked = ids.slice(i, i + TOGETHER).map(async (run_id) => {
      const head = await runs.head({ tenant, run_id }, [])
      return head?.state === 'running' ? [run_id] : []
    })
    live.push(...(await Promise.all(looked)).flat())
  }
  return live
}
