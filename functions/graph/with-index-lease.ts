import type { World } from '../../shared/world.ts'

/** Longer than a round takes. Two at once cost time and nothing else, so who crashed holds up no one for long. */
const LEASE_MS = 300_000

/** Does the work as the only one of this tenant; undefined: somebody else is at it. */
export async function withIndexLease<T>(
  { runs, clock, ids }: Pick<World, 'runs' | 'clock' | 'ids'>,
  tenant: string,
  work: (extend: () => Promise<void>) => Promise<T>,
): Promise<T | undefined> {
  const pool = { tenant, name: 'index-graph' }
  const holder = `${ids.boot}/${Buffer.from(ids.random(9)).toString('base64url')}`
  const until = () => new Date(clock.now() + LEASE_MS).toISOString()
  const take = () => runs.takeLease(pool, holder, until(), 1)
  if (!(await take())) {
    const held = Object.entries(await runs.leases(pool))
    const over = held.filter(([, end]) => Date.parse(end) <= clock.now())
    for (const [one, end] of over) await runs.dropLease(pool, one, end)
    if (over.length === 0 || !(await take())) return undefined
  }
  try {
    return await work(() => runs.extendLeases(pool, [holder], until()))
  } finally {
    await runs.dropLease(pool, holder)
  }
}
