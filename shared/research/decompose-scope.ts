/** How wide a decomposition is; a closed list. */
export const DECOMPOSE_SCOPES = ['narrow', 'medium', 'broad'] as const

export type DecomposeScope = (typeof DECOMPOSE_SCOPES)[number]

/** `""` is valid: it means medium. */
export function isValidDecomposeScope(word: string): boolean {
  return word === '' || (DECOMPOSE_SCOPES as readonly string[]).includes(word)
}

/** How many candidates, and how many hits of each sub-query, a scope takes. */
export function scopeBound(word: string | undefined): number {
  return BOUNDS[(word || 'medium') as DecomposeScope]
}

const BOUNDS: Readonly<Record<DecomposeScope, number>> = { narrow: 3, medium: 8, broad: 20 }
