import { MUTANTS } from './mutants/registry.ts'
import { runSeeds } from './run-seeds.ts'
import type { StoreKind } from './system.ts'

/** Every planted mistake has to be found within so many seeds. */
const MOST = 500

/** Looks for each mutant on each store it can be planted in; answers the ones that were not found. */
export async function huntMutants(
  stores: readonly StoreKind[],
  print: (line: string) => void,
): Promise<readonly string[]> {
  const missed: string[] = []
  for (const store of stores) {
    for (const mutant of MUTANTS) {
      if (store === 'sqlite' && (mutant.client !== undefined || mutant.needs_network)) continue
      let found: string | undefined
      await runSeeds({ from: 1, step: 1, count: MOST, store }, mutant, (seed, { violations }) => {
        found = violations.length === 0 ? undefined : `seed ${seed}: ${violations[0]}`
        return found === undefined
      })
      print(`${mutant.name} on ${store}: ${found?.slice(0, 160) ?? `not found in ${MOST} seeds`}`)
      if (found === undefined) missed.push(`${mutant.name} on ${store}`)
    }
  }
  return missed
}
