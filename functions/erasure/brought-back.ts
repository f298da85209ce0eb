import type { Erasure } from '../../shared/runs/erasure.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { reachedObjects } from './run-texts.ts'

/** Whoever takes a copy names its bodies within that time; a longer one sends again what it misses. */
const COPY_MS = 3_600_000

/**
 * A copy from before its erasure brought bodies of a run again: its record is not taken, and its erasure begins once more where
 * bodies go. So they stay where another run of the copy, or one that was here, names them. `lines`: the run in the copy.
 */
export async function eraseBroughtBack(
  world: Pick<World, 'runs' | 'objects' | 'clock'>,
  { tenant, run_id }: RunKey,
  { of = run_id }: Erasure,
  lines: readonly string[],
): Promise<void> {
  const run = { tenant, run_id: of }
  const erasure = (await world.runs.mark(run))?.erasure
  // Before its end the erasure has the same bodies to remove, and looks again at those that were put lately.
  if (erasure?.step !== 'erased') return
  const now = world.clock.now()
  const known = await world.runs.erasing(run)
  const named = await reachedObjects(world, tenant, lines)
  await world.runs.keepErasing(run, [...new Set([...known.bodies, ...named])])
  const { erased_at: _, proof: __, untold: ___, ...before } = erasure
  const again: Erasure = {
    ...before,
    version: erasure.version + 1,
    step: 'bodies',
    look: { since: new Date(now).toISOString(), of: 'runs' },
    brought_back: (erasure.brought_back ?? 0) + 1,
  }
  await world.runs.moveErasure(run, again, new Date(now + COPY_MS).toISOString())
}
