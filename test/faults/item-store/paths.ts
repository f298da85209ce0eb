import type { Path } from './operands.ts'
import { invalid } from './refusals.ts'

/** No path of an expression may lead to, or into, what another one names. */
export function requireDisjoint(paths: readonly Path[], expression: string): void {
  // By index, and no text made of a path: every request comes here.
  for (let i = 1; i < paths.length; i += 1) {
    for (let j = 0; j < i; j += 1) {
      if (!overlap(paths[i] ?? [], paths[j] ?? [])) continue
      const message = `Invalid ${expression}: Two document paths overlap with each other; must remove or rewrite one of these paths`
      throw invalid(message)
    }
  }
}

function overlap(a: Path, b: Path): boolean {
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i += 1) if (a[i] !== b[i]) return false
  return true
}
