import type { RunEvent } from '../../shared/runs/event.ts'
import { slotRank } from '../../shared/runs/key-queue.ts'
import type { Meta, RunKey, RunLink } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { endRun } from './end-run.ts'
import { comeToTurn, hasTurn } from './key-turns.ts'

/** Notes a linked run with the runs of its lineage; repeated, it stays as it was noted first. */
export async function linkLineage({ runs }: Pick<World, 'runs'>, meta: Meta): Promise<void> {
  const { tenant, run_id, root, created_at: at } = meta
  const [kind, from] = linkOf(meta)
  if (root === undefined || from === undefined) return
  await runs.linkRun(tenant, root, { run_id, from, kind, at })
}

/** What it is made from, of which it may also go on from another run. */
function linkOf({ pivots, iterates, retry_of, continues }: Meta): readonly [RunLink['kind'], string | undefined] {
  if (pivots !== undefined) return ['pivot', pivots.run_id]
  if (iterates !== undefined) return ['iterate', iterates.run_id]
  return retry_of === undefined ? ['continue', continues] : ['retry', retry_of.run_id]
}

type SuccessorWorld = Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>

/**
 * What becomes of a run that was made to come after another one, in its place or to try its goal again, once that has
 * ended: it is queued if the other one names it, and cancelled if the other one ended otherwise (somebody stopped it, or
 * another approval was faster). Safe to repeat; until it is done, the run sleeps.
 */
export async function admitSuccessor(world: SuccessorWorld, meta: Meta): Promise<void> {
  const { tenant, run_id, created_at: at, iterates, priority } = meta
  const before = predecessorOf(meta)
  if (before === undefined) return
  const verdict = await successorVerdict(world, { tenant, run_id: before }, run_id)
  if (verdict === 'waits') return
  if (verdict === 'next') {
    await linkLineage(world, meta)
    if (hasTurn(meta)) await comeToTurn(world, meta)
    else await world.runs.enqueue({ tenant, run_id, at: slotRank(at, priority) })
    return
  }
  const reason = `run ${before} ended otherwise before this one took its place`
  const code = iterates === undefined ? 'not_pivoted' : 'not_iterated'
  await endRun(world, { tenant, run_id }, { state: 'cancelled', code, reason, stop: false })
}

/** The run it was made by, and may only begin after. */
export function predecessorOf({ iterates, pivots }: Meta): string | undefined {
  return (iterates ?? pivots)?.run_id
}

async function successorVerdict(
  { runs }: Pick<World, 'runs'>,
  run: RunKey,
  next: string,
): Promise<'waits' | 'next' | 'other'> {
  const head = await runs.head(run, [])
  if (head?.state === 'running') return 'waits'
  // The end of a run is its last event.
  const [end] = head === undefined ? [] : await runs.events(run, head.seq - 1, 1)
  return end !== undefined && leadsTo(end, next) ? 'next' : 'other'
}

/** A person's pivot comes after an end that names none. */
function leadsTo({ type, data }: RunEvent, next: string): boolean {
  if (type === 'run:iterated') return data.next_run === next
  return type === 'run:partial' && (data.next_run ?? next) === next
}
