import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { Head, RunKey } from '../../shared/runs/run-store.ts'
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
  if (head.state !== 'running' || Date.parse(head.deadline_at) > world.clock.now()) return false
  const whole = await world.runs.head(run)
  if (whole === undefined || waitsForPeopleOnly(whole)) return false
  const reason = `the run's deadline ${head.deadline_at} has passed`
  const ended = await endRun(world, run, { state: 'cancelled', code: 'max_run_duration_exceeded', reason, stop: true })
  return ended.ok
}

function waitsForPeopleOnly(head: Head): boolean {
  if (!Object.values(head.approvals).some(({ status }) => status === 'pending')) return false
  if (head.running.length > 0) return false
  return !Object.entries(head.lanes).some(
    ([lane, value]) => /^\d+$/.test(lane) && readOrdinal(value).outcome === undefined,
  )
}
