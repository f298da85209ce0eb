import type { Mutant } from './mutant.ts'
import type { Profile } from './scenario.ts'
import { type Outcome, simulate } from './simulate.ts'
import type { StoreKind } from './system.ts'
import type { Wire } from './wire/open-wire.ts'

/** Which seeds a worker runs: `from`, then every `step`th, `count` of them. */
export interface SeedRange {
  readonly from: number
  readonly step: number
  readonly count: number
  readonly store: StoreKind
  readonly profile?: Profile
}

/** Runs seeds one after the other and tells of each; stops early when `told` answers false. */
export async function runSeeds(
  { from, step, count, ...order }: SeedRange,
  mutant: Mutant | undefined,
  told: (seed: number, outcome: Outcome) => boolean,
  wire?: Wire,
): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const seed = from + i * step
    const more = { ...(mutant === undefined ? {} : { mutant }), ...(wire === undefined ? {} : { wire }) }
    const outcome = await simulate({ ...order, seed, ...more })
    if (!told(seed, outcome)) return
  }
}
