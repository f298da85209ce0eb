import type { LeasePool } from './leases.ts'

/** The leases of a tenant's active runs; holders are run ids (docs/adr/0030). */
export function runsPool(tenant: string): LeasePool {
  return { tenant, name: 'runs' }
}

/** How long a run keeps its place without the sweep's word for it. */
const PLACE_MS = 900_000

/** The end of a lease that is taken or extended now, ISO time. */
export function placeUntil(now: number): string {
  return new Date(now + PLACE_MS).toISOString()
}
