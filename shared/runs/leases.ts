/** Leases of one kind: `runs` (the tenant's active runs), `provider/<name>` (calls under way at one provider). */
export interface LeasePool {
  readonly tenant: string
  readonly name: string
}

export const MAX_LEASES = 1_000

/**
 * Counted permissions that survive crashes: a map of holders and the ends of their leases, at most 1,000 a pool
 * (docs/adr/0030). The store never judges an end: whoever finds the pool full drops those that
 * are over, when it knows that their holder is gone.
 */
export interface Leases {
  /**
   * ONE conditional write: true when the holder has a lease to that end now, because it had one or fewer than `cap` (at
   * most MAX_LEASES) are held.
   */
  takeLease(pool: LeasePool, holder: string, until: string, cap: number): Promise<boolean>
  /** Holder -> end, ISO time. */
  leases(pool: LeasePool): Promise<Readonly<Record<string, string>>>
  /** In one write; who has none gets none, and a later end stays. */
  extendLeases(pool: LeasePool, holders: readonly string[], until: string): Promise<void>
  /** With `until` only while its end is still that; repeating it is safe. */
  dropLease(pool: LeasePool, holder: string, until?: string): Promise<void>
}
