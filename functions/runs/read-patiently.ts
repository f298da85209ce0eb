import { Fault } from '../../shared/errors.ts'
import type { World } from '../../shared/world.ts'

/** An object store may not show what was put a moment ago (docs/faults.md, "What goes wrong"). */
const SHOWN_WITHIN_MS = 2_000

/**
 * Reads a tenant's objects; undefined = missing or damaged. What is missing is looked for once more when two seconds have
 * gone since the first of them was: however many are missing, that is waited for once. Faults of a store that is away
 * are thrown on: they say nothing of its objects.
 */
export function readPatiently(
  { objects, clock }: Pick<World, 'objects' | 'clock'>,
  tenant: string,
): (ref: string) => Promise<Uint8Array | undefined> {
  let waited: Promise<void> | undefined
  return async (ref) => {
    const found = await objects.get(tenant, ref).catch(codeUnlessAway)
    if (typeof found !== 'string') return found
    if (found === 'object_missing') {
      waited ??= clock.delay(SHOWN_WITHIN_MS)
      await waited
      const again = await objects.get(tenant, ref).catch(codeUnlessAway)
      if (typeof again !== 'string') return again
    }
    return undefined
  }
}

function codeUnlessAway(error: unknown): string {
  if (!(error instanceof Fault)) return 'unreadable'
  if (error.name === 'Unavailable') throw error
  return error.code
}
