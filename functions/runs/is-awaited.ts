import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { endRun } from './end-run.ts'

/**
 * Whether the block this run was opened for still waits for it. A run that nobody opened always goes on. A parent that
 * ended before its child was there could not stop it: so a child asks before it starts, and at each look of the sweep.
 */
export async function isAwaited({ runs }: Pick<World, 'runs'>, { tenant, run_id, parent }: Meta): Promise<boolean> {
  if (parent === undefined) return true
  const head = await runs.head({ tenant, run_id: parent.run_id })
  if (head?.state !== 'running') return false
  const lane = Object.keys(head.children).find((key) => head.children[key] === run_id)
  return lane !== undefined && readOrdinal(head.lanes[lane] ?? 0).outcome === undefined
}

/** Cancels a child whose parent's block has ended without it. */
export async function endUnawaited(
  world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>,
  meta: Meta,
): Promise<void> {
  const { tenant, run_id, parent } = meta
  const reason = `block "${parent?.block_id}" of its parent run ${parent?.run_id} does not wait for it any more`
  await endRun(world, { tenant, run_id }, { state: 'cancelled', code: 'parent_ended', reason, stop: true })
}
