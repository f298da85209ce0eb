import type { Head, RunKey } from '../../shared/runs/run-store.ts'
import { shownState } from '../../shared/runs/shown-state.ts'
import type { World } from '../../shared/world.ts'
import { endRun } from './end-run.ts'

/**
 * Cancels a run whose deadline has passed (max_run_duration_exceeded); true when it did. The deadline stands still
 * while every runnable block waits for a person (decisions, "Execution input").
 */
export async function endIfOverdue({
  world,
  run,
  head,
}: {
  readonly world: Pick<World, 'runs' | 'outbox' | 'clock'>
  readonly run: RunKey
  readonly head: Head
}): Promise<boolean> {
  if (head.state !== 'running' || !isOver(head, world.clock.now())) return false
  const whole = await world.runs.head(run)
  // Read again: the end of a pause moves the deadline.
  if (whole === undefined || !isOver(whole, world.clock.now()) || shownState(whole) === 'paused_approval') return false
  const reason = `the run's deadline ${whole.deadline_at} has passed`
  const ended = await endRun(world, run, { state: 'cancelled', code: 'max_run_duration_exceeded', reason, stop: true })
  return ended.ok
}

function isOver({ deadline_at }: Head, now: number): boolean {
  return Date.parse(deadline_at) <= now
}
