import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { expireApproval } from '../approvals/expire-approval.ts'
import { endIfOverdue } from './end-if-overdue.ts'
import { endIfStalled } from './end-if-stalled.ts'
import { givePlace } from './keep-places.ts'
import { reconcileRun } from './reconcile-run.ts'

/**
 * One look of the sweep at a live run: expires its approvals, ends it when it is overdue or stalled, fails it when its
 * execution ended without a verdict; gives it a place if it is none of the `holders`. Answers when the stall watchdog
 * wants to look again, milliseconds since 1970.
 */
export async function lookAtRun(
  world: World,
  run: RunKey,
  head: Head,
  holders: ReadonlySet<string> | undefined,
): Promise<number | undefined> {
  if (head.queued === true) return keepQueued(world, run)
  if (holders?.has(run.run_id) === false) await givePlace(world, run)
  await expireDue(world, run, head)
  await endIfOverdue({ world, run, head })
  await reconcileRun(world, run, head)
  const now = await world.runs.head(run, [])
  return now === undefined ? undefined : endIfStalled(world, run, now)
}

/** Its start may have died before it stood in the queue. */
async function keepQueued({ runs }: World, run: RunKey): Promise<undefined> {
  const meta = await runs.meta(run)
  if (meta !== undefined) await runs.enqueue({ ...run, at: meta.created_at })
  // Released in the meantime, its place in the queue would only be in the way.
  const head = await runs.head(run, [])
  if (meta !== undefined && head?.queued !== true) await runs.dequeue({ ...run, at: meta.created_at })
}

async function expireDue(world: World, run: RunKey, head: Head): Promise<void> {
  for (const [id, approval] of Object.entries(head.approvals)) {
    if (approval.status !== 'pending' || Date.parse(approval.expires_at) > world.clock.now()) continue
    const item = await world.runs.approval(run, id)
    if (item !== undefined) await expireApproval(world, run, item, approval)
  }
}
