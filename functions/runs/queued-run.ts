import type { Head } from '../../shared/runs/head.ts'
import { slotRank } from '../../shared/runs/key-queue.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { endIfOverdue } from './end-run.ts'
import { comeToTurn, hasTurn } from './key-turns.ts'
import { admitSuccessor, predecessorOf } from './lineage.ts'
import { fillSlots } from './slots.ts'
import { endUnawaitedChild, isAwaited } from './stop-children.ts'

type QueuedWorld = Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>

/**
 * Brings a queued run to where it waits: its start may have died before it stood in a queue, or it was paused there; one that
 * comes after another run waits for its end.
 */
export async function keepQueued(world: QueuedWorld, run: RunKey, seen: Head): Promise<void> {
  const { runs } = world
  const meta = await runs.meta(run)
  if (meta !== undefined && predecessorOf(meta) !== undefined) {
    await admitSuccessor(world, meta)
    await fillSlots(world, run.tenant)
    return
  }
  if (meta === undefined) return
  if (hasTurn(meta)) {
    const isEnded = meta.parent !== undefined && (await endQueuedChild(world, run, { meta, head: seen }))
    if (!isEnded) await comeToTurn(world, meta)
    await fillSlots(world, run.tenant)
    return
  }
  const at = slotRank(meta.created_at, meta.priority)
  await runs.enqueue({ ...run, at })
  // Released in the meantime, its place in the queue would only be in the way.
  const head = await runs.head(run, [])
  if (head?.queued !== true) await runs.dequeue({ ...run, at })
}

/** A child that waits for its turn, and that nobody waits for any more, or not for longer. */
async function endQueuedChild(
  world: QueuedWorld,
  run: RunKey,
  { meta, head }: { readonly meta: Meta; readonly head: Head },
): Promise<boolean> {
  if (await isAwaited(world, meta)) return endIfOverdue({ world, run, head, isChild: true })
  await endUnawaitedChild(world, meta)
  return true
}
