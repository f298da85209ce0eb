import { findMutant } from './find-mutant.ts'
import { loadHandlers } from './functions.ts'
import { runSeeds, type SeedRange } from './run-seeds.ts'
import type { Outcome } from './simulate.ts'
import { openWire, type Wire } from './wire/open-wire.ts'

/** What a worker has to do. */
export interface Work {
  readonly share: readonly SeedRange[]
  readonly mutant?: string
  /** The table lies in an emulator. */
  readonly over_wire: boolean
}

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
process.on('message', (work: Work) => {
  void perform(work).then(() => process.disconnect())
})

async function perform({ share, mutant, over_wire }: Work): Promise<void> {
  // Nobody reads where an injected fault was thrown.
  Error.stackTraceLimit = 0
  await loadHandlers()
  const wire = over_wire ? await openWire() : undefined
  for (const range of share) await workOn(range, mutant, wire)
  await wire?.close()
}

async function workOn(range: SeedRange, mutant: string | undefined, wire: Wire | undefined): Promise<void> {
  const tell = (seed: number, outcome: Outcome) => {
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
  }
  await runSeeds(range, await findMutant(mutant), tell, wire)
}
