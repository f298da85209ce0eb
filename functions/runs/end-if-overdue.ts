import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { shownState } from '../../shared/runs/shown-state.ts'
import type { World } from '../../shared/world.ts'
import { endRun } from './end-run.ts'
import { openChildren } from './stop-children.ts'

/**
 * Cancels a run whose deadline has passed (max_run_duration_exceeded); true when it did. The deadline stands still
 * while every runnable block waits for a person, and so does that of a run that waits
 * for a child run: a child's deadline is never behind its parent's but by the time its people took.
 */
export async function endIfOverdue({
  world,
  run,
  head,
}: {
  readonly world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>
  readonly run: RunKey
  readonly head: Head
}): Promise<boolean> {
  if (head.state !== 'running' || !isOver(head, world.clock.now())) return false
  // Read again: the end of a pause moves the deadline.
  const whole = await world.runs.head(run)
  if (whole === undefined || !(await isOverdue(world, run, whole))) return false
  const reason = `the run's deadline ${whole.deadline_at} has passed`
  const ended = await endRun(world, run, { state: 'cancelled', code: 'max_run_duration_exceeded', reason, stop: true })
  return ended.ok
}

/** `head` with every lane. Children have children: their depth is limited. */
async function isOverdue(world: Pick<World, 'runs' | 'clock'>, { tenant }: RunKey, head: Head): Promise<boolean> {
  if (!isOver(head, world.clock.now()) || shownState(head) === 'paused_approval') return false
  for (const run_id of openChildren(head)) {
    const child = await world.runs.head({ tenant, run_id })
    if (child !== undefined && !(await isOverdue(world, { tenant, run_id }, child))) return false
  }
  return true
}

/** The deadline of a queued run counts from its release. */
function isOver({ deadline_at, queued }: Head, now: number): boolean {
  return queued !== true && Date.parse(deadline_at) <= now
}
