import * as z from 'zod'
import { nextCheck } from '../../shared/runs/check-at.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { expireApproval } from '../approvals/expire-approval.ts'
import { functionHandler } from '../handler.ts'
import { endIfOverdue } from './end-if-overdue.ts'
import { reconcileRun } from './reconcile-run.ts'

const PER_SWEEP = 100
const AGAIN_MS = 1_000
const LATER_MS = 60_000

/**
 * Looks at every run whose check_at has come: expires approvals, ends overdue runs, performs what the outbox still
 * owes, and fails runs whose execution ended without a verdict. Each minute on AWS, each second locally; a missed or
 * doubled sweep changes nothing but the time.
 */
export const handler = functionHandler({
  name: 'sweep',
  input: z.strictObject({}),
  async run(_event, world) {
    const runs = await world.runs.due(new Date(world.clock.now()).toISOString(), PER_SWEEP)
    for (const run of runs) await look(world, run).catch((error: unknown) => lookLater(world, run, error))
    return { looked: runs.length }
  },
})

async function look(world: World, run: RunKey): Promise<void> {
  const head = await world.runs.head(run, [])
  if (head?.check_at === undefined) return
  if (head.state === 'running') {
    await expireDue(world, run, head)
    await endIfOverdue({ world, run, head })
    await reconcileRun(world, run, head)
  }
  if (head.outbox.length > 0) await world.outbox.nudge(run)
  const now = await world.runs.head(run, [])
  if (now?.check_at !== undefined) await world.runs.moveCheck(run, now.check_at, comingCheck(now, world.clock.now()))
}

/** What is overdue is looked at again soon, but after the others: what never gets done must not hold them up. */
function comingCheck(head: Head, now: number): string | undefined {
  const next = nextCheck(head, now)
  if (next === undefined || Date.parse(next) > now) return next
  return new Date(now + AGAIN_MS).toISOString()
}

/** One run that cannot be looked at must neither end the sweep nor stay first in line for ever. */
async function lookLater(world: World, run: RunKey, error: unknown): Promise<void> {
  world.log.error('sweep could not look at a run', { run_id: run.run_id, error: String(error) })
  const head = await world.runs.head(run, []).catch(() => undefined)
  if (head?.check_at === undefined) return
  const later = new Date(world.clock.now() + LATER_MS).toISOString()
  await world.runs.moveCheck(run, head.check_at, later).catch(() => undefined)
}

async function expireDue(world: World, run: RunKey, head: Head): Promise<void> {
  for (const [id, approval] of Object.entries(head.approvals)) {
    if (approval.status !== 'pending' || Date.parse(approval.expires_at) > world.clock.now()) continue
    const item = await world.runs.approval(run, id)
    if (item !== undefined) await expireApproval(world, run, item, approval)
  }
}
