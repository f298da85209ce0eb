import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { endRun } from './end-run.ts'
import { linkLineage } from './link-lineage.ts'

type SettleWorld = Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>

/**
 * What becomes of a run that was made in place of another one, once that has ended: it is queued if the other one names
 * it, and cancelled if the other one ended otherwise (somebody stopped it, or another approval was faster). Safe to
 * repeat; until it is done, the run sleeps.
 */
export async function settleIteration(world: SettleWorld, meta: Meta): Promise<void> {
  const { iterates, tenant, run_id, created_at: at } = meta
  if (iterates === undefined) return
  const verdict = await verdictOf(world, { tenant, run_id: iterates.run_id }, run_id)
  if (verdict === 'waits') return
  if (verdict === 'next') {
    await linkLineage(world, meta)
    await world.runs.enqueue({ tenant, run_id, at })
    return
  }
  const reason = `run ${iterates.run_id} ended otherwise before this one took its place`
  await endRun(world, { tenant, run_id }, { state: 'cancelled', code: 'not_iterated', reason, stop: false })
}

async function verdictOf(
  { runs }: Pick<World, 'runs'>,
  run: RunKey,
  next: string,
): Promise<'waits' | 'next' | 'other'> {
  const head = await runs.head(run, [])
  if (head?.state === 'running') return 'waits'
  // The end of a run is its last event.
  const [end] = head === undefined ? [] : await runs.events(run, head.seq - 1, 1)
  return end?.type === 'run:iterated' && end.data.next_run === next ? 'next' : 'other'
}
