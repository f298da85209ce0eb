import type { ClearLimits } from './machine.ts'

/** The machines that may go if nothing runs on them, longest unused first. `used_at`: ms since 1970. */
export function idleMachines<T extends { readonly used_at: number }>(
  machines: readonly T[],
  { unused_since, most, crowded_since }: ClearLimits,
): readonly T[] {
  const tooMany = machines.length - most
  return machines
    .toSorted((a, b) => a.used_at - b.used_at)
    .filter(({ used_at }, i) => used_at < unused_since || (i < tooMany && used_at < crowded_since))
}
