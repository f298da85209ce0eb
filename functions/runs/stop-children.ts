import type { Head } from '../../shared/runs/head.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { endRun } from './end-run.ts'

/** Children stopped at a time. */
const TOGETHER = 10

/**
 * Stops the child runs that blocks of an ended run still waited for, as runs of their own: terminal state first. One
 * that has ended, or that is not there, is as good as stopped (is-awaited.ts keeps a late one from starting).
 */
export async function stopChildren(
  world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>,
  { tenant, run_id }: RunKey,
  cause: string,
): Promise<void> {
  const head = await world.runs.head({ tenant, run_id })
  const children = head === undefined ? [] : openChildren(head)
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

/** Ids of the child runs whose blocks have no outcome yet. `head` with every lane. */
export function openChildren({ children, lanes }: Pick<Head, 'children' | 'lanes'>): readonly string[] {
  return Object.entries(children).flatMap(([lane, child]) =>
    readOrdinal(lanes[lane] ?? 0).outcome === undefined ? [child] : [],
  )
}
