import type { RunEvent } from '../../shared/runs/event.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { shownState } from '../../shared/runs/shown-state.ts'
import type { World } from '../../shared/world.ts'

const PAGE = 50

/**
 * The run's deadline stands still while everything waits for people: the decision or expiry that ends the pause gives
 * it back in its own update (docs/architecture.md, "Questions to people"). `head` with every lane, as read before that
 * update.
 */
export async function deadlineAfterPause(
  world: Pick<World, 'runs'>,
  run: RunKey,
  head: Head,
  now: number,
): Promise<{ readonly deadline_at?: string }> {
  if (shownState(head) !== 'paused_approval') return {}
  const since = await pausedSince(world, run, head.seq)
  const paused = since === undefined ? 0 : Math.max(0, now - Date.parse(since))
  return { deadline_at: new Date(Date.parse(head.deadline_at) + paused).toISOString() }
}

/** The newest event before which something still went on by itself. */
async function pausedSince({ runs }: Pick<World, 'runs'>, run: RunKey, seq: number): Promise<string | undefined> {
  for (let end = seq; end > 0; end -= PAGE) {
    const start = Math.max(0, end - PAGE)
    const last = (await runs.events(run, start, end - start)).findLast((event) => !isOfPause(event))
    if (last !== undefined) return last.at
  }
  return undefined
}

/** A context that is changed, a reminder or a vote that is not the last does not end a pause. */
function isOfPause({ type, data }: RunEvent): boolean {
  if (type === 'approval:decided') return data.decision !== 'reject' && data.have < data.need
  return OF_PAUSE.has(type)
}

const OF_PAUSE: ReadonlySet<string> = new Set(['context:patched', 'approval:reminded', 'approval:escalated'])
