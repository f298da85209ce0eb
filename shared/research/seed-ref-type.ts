/** How a seed reference is read; a closed list. */
export const SEED_REF_TYPES = ['name', 'partial_id', 'candidate_index'] as const

export type SeedRefType = (typeof SEED_REF_TYPES)[number]

export function isValidSeedRefType(word: string): word is SeedRefType {
  return (SEED_REF_TYPES as readonly string[]).includes(word)
}
