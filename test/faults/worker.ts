import { findMutant } from './find-mutant.ts'
import { loadHandlers } from './functions.ts'
import { runSeeds, type SeedRange } from './run-seeds.ts'

/** What a worker tells its parent: each seed, in short. */
export interface Told {
  readonly seed: number
  readonly store: SeedRange['store']
  readonly profile: string
  readonly violations: readonly string[]
  readonly steps: number
  readonly events: number
  readonly ends: readonly string[]
  readonly reached: readonly (readonly [string, number])[]
  readonly struck: readonly (readonly [string, number])[]
}

/** The process campaign.ts forks: takes its share of the seeds, ends with it. */
process.on('message', (order: { readonly share: readonly SeedRange[]; readonly mutant?: string }) => {
  void work(order.share, order.mutant).then(() => process.disconnect())
})

async function work(share: readonly SeedRange[], mutant: string | undefined): Promise<void> {
  await loadHandlers()
  for (const range of share) await workOn(range, mutant)
}

async function workOn(range: SeedRange, mutant: string | undefined): Promise<void> {
  await runSeeds(range, await findMutant(mutant), (seed, outcome) => {
    const { violations, steps, events, scenario, logs } = outcome
    const told: Told = {
      seed,
      store: range.store,
      profile: scenario.profile,
      violations,
      steps,
      events,
      ends: [...logs.values()].map((log) => log.at(-1)?.type ?? 'nothing'),
      reached: [...outcome.reached],
      struck: [...outcome.struck],
    }
    process.send?.(told)
    return true
  })
}
