import type { Mutant } from './mutant.ts'

/** The planted mistake of that name; throws words that name them all. */
export async function findMutant(name: string | undefined): Promise<Mutant | undefined> {
  if (name === undefined) return undefined
  const { MUTANTS } = await import('./mutants/registry.ts')
  const found = (MUTANTS as readonly Mutant[]).find((one) => one.name === name)
  if (found !== undefined) return found
  throw new Error(`no mutant "${name}"; there are ${MUTANTS.map((one: Mutant) => one.name).join(', ')}`)
}
