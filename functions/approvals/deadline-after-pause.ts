import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { shownState } from '../../shared/runs/shown-state.ts'
import type { World } from '../../shared/world.ts'

/** So many events before the newest are looked through for the beginning of a pause. */
const LOOK_BACK = 50

/**
 * The run's deadline stands still while everything waits for people: the decision or expiry that ends the pause gives
 * it back in its own update (decisions, "Execution input"). `head` with every lane, as read before that update.
 */
export async function deadlineAfterPause(
  world: Pick<World, 'runs'>,
  run: RunKey,
  head: Head,
  now: number,
): Promise<{ readonly deadline_at?: string }> {
  if (shownState(head) !== 'paused_approval') return {}
  const events = await world.runs.events(run, Math.max(0, head.seq - LOOK_BACK), LOOK_BACK)
  // A context that is changed in the meantime does not end a pause.
  const last = events.findLast(({ type }) => type !== 'context:patched') ?? events[0]
  const paused = last === undefined ? 0 : Math.max(0, now - Date.parse(last.at))
  return { deadline_at: new Date(Date.parse(head.deadline_at) + paused).toISOString() }
}
