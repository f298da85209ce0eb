import { readOrdinal } from '../../shared/runs/lane.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { endRun, unfinishedChildIds } from './end-run.ts'

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
export async function endUnawaitedChild(
  world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>,
  meta: Meta,
): Promise<void> {
  const { tenant, run_id, parent } = meta
  const reason = `block "${parent?.block_id}" of its parent run ${parent?.run_id} does not wait for it any more`
  await endRun(world, { tenant, run_id }, { state: 'cancelled', code: 'parent_ended', reason, stop: true })
}

/** Children stopped at a time. */
const TOGETHER = 10

/**
 * Stops the child runs that blocks of an ended run still waited for, as runs of their own: terminal state first. One
 * that has ended, or that is not there, is as good as stopped (`isAwaited` keeps a late one from starting).
 */
export async function stopChildren(
  world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>,
  { tenant, run_id }: RunKey,
  cause: string,
): Promise<void> {
  const head = await world.runs.head({ tenant, run_id })
  const children = head === undefined ? [] : unfinishedChildIds(head)
  const reason = `its parent run ${run_id} ended: ${cause}`
  for (let i = 0; i < children.length; i += TOGETHER) {
    const stops = children
      .slice(i, i + TOGETHER)
      .map((child) =>
        endRun(world, { tenant, run_id: child }, { state: 'cancelled', code: 'parent_ended', reason, stop: true }),
      )
    await Promise.all(stops)
  }
}

/** The child run of a block that was stopped alone. */
export async function stopChild(
  world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>,
  { tenant, run_id }: RunKey,
  { child, cause }: { readonly child: string; readonly cause: string },
): Promise<void> {
  const reason = `its parent run ${run_id} does not wait for it any more: ${cause}`
  await endRun(world, { tenant, run_id: child }, { state: 'cancelled', code: 'parent_ended', reason, stop: true })
}
