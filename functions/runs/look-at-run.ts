import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { expireApproval } from '../approvals/expire-approval.ts'
import { tellDue } from '../approvals/tell-due.ts'
import { endIfOverdue } from './end-if-overdue.ts'
import { endIfStalled } from './end-if-stalled.ts'
import { fillPlaces } from './fill-places.ts'
import { givePlace } from './keep-places.ts'
import { reconcileRun } from './reconcile-run.ts'
import { predecessorOf, settleSuccessor } from './settle-successor.ts'

/**
 * One look of the sweep at a live run: expires its approvals or reminds people of them, ends it when it is overdue or stalled, fails it when its
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
  await lookAtApprovals(world, run, head)
  await endIfOverdue({ world, run, head })
  await reconcileRun(world, run, head)
  const now = await world.runs.head(run, [])
  return now === undefined ? undefined : endIfStalled(world, run, now)
}

/** Its start may have died before it stood in the queue; one that comes after another run waits for its end. */
async function keepQueued(world: World, run: RunKey): Promise<undefined> {
  const { runs } = world
  const meta = await runs.meta(run)
  if (meta !== undefined && predecessorOf(meta) !== undefined) {
    await settleSuccessor(world, meta)
    await fillPlaces(world, run.tenant)
    return undefined
  }
  if (meta !== undefined) await runs.enqueue({ ...run, at: meta.created_at })
  // Released in the meantime, its place in the queue would only be in the way.
  const head = await runs.head(run, [])
  if (meta !== undefined && head?.queued !== true) await runs.dequeue({ ...run, at: meta.created_at })
}

/** Questions of people: those nobody answered in time, and those somebody is to be reminded of or asked besides. */
async function lookAtApprovals(world: World, run: RunKey, head: Head): Promise<void> {
  const now = world.clock.now()
  for (const [id, { status, expires_at, next_at = expires_at }] of Object.entries(head.approvals)) {
    if (status !== 'pending' || Math.min(Date.parse(next_at), Date.parse(expires_at)) > now) continue
    const item = await world.runs.approval(run, id)
    if (item === undefined) continue
    if (Date.parse(expires_at) <= now) await expireApproval(world, run, item)
    else await tellDue(world, run, item)
  }
}
