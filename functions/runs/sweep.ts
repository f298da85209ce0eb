import * as z from 'zod'
import { nextCheck } from '../../shared/runs/check-at.ts'
import type { Head, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { expireApproval } from '../approvals/expire-approval.ts'
import { functionHandler } from '../handler.ts'
import { endIfOverdue } from './end-if-overdue.ts'
import { endRun } from './end-run.ts'

const PER_SWEEP = 100

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
    for (const run of runs) {
      await look(world, run).catch((error: unknown) => {
        world.log.error('sweep could not look at a run', { run_id: run.run_id, error: String(error) })
      })
    }
    return { looked: runs.length }
  },
})

async function look(world: World, run: RunKey): Promise<void> {
  const head = await world.runs.head(run, [])
  if (head?.check_at === undefined) return
  if (head.state === 'running') {
    await expireDue(world, run, head)
    await endIfOverdue({ world, run, head })
    await reconcile(world, run, head)
  }
  if (head.outbox.length > 0) await world.outbox.nudge(run)
  const now = await world.runs.head(run, [])
  if (now?.check_at !== undefined) await world.runs.moveCheck(run, now.check_at, nextCheck(now, world.clock.now()))
}

async function expireDue(world: World, run: RunKey, head: Head): Promise<void> {
  for (const [id, approval] of Object.entries(head.approvals)) {
    if (approval.status !== 'pending' || Date.parse(approval.expires_at) > world.clock.now()) continue
    const item = await world.runs.approval(run, id)
    if (item !== undefined) await expireApproval(world, run, item, approval)
  }
}

/** An execution that ended outside our view (failed, timed out, aborted, lost) fails its run, in words. */
async function reconcile(world: World, run: RunKey, head: Head): Promise<void> {
  const meta = await world.runs.meta(run)
  if (meta === undefined || head.outbox.some(({ kind }) => kind === 'start_run')) return
  const execution = await world.machine.describe(meta.machine, run.run_id)
  if (execution === undefined || execution.status === 'RUNNING') return
  const why = [execution.error, execution.cause?.slice(0, 200)].filter((part) => part !== undefined).join(': ')
  const reason = `its execution ended ${execution.status}${why === '' ? '' : ` (${why})`} before the run had a verdict`
  await endRun(world, run, { state: 'failed', code: 'execution_ended', reason, stop: false })
}
