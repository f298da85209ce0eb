import * as z from 'zod'
import { functionHandler } from '../handler.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** So long the history of a run can be looked at in the console of Step Functions. */
const KEPT_MS = 7 * DAY_MS
/** As many as may be active at once (safety.max_runs). */
const MOST = 1_000

/** So long a start waits in the queue, at the most that anybody waits for. */
const WAITING_MS = 30 * DAY_MS
/** Longer than an execution may live, a year: it starts parts of the version it began on. */
const LIVING_MS = 400 * DAY_MS

/**
 * Removes machines of inline documents that nothing needs (docs/adr/0058), and once a day versions of deployed machines
 * that were replaced long ago: AWS keeps 1,000 of one. Each hour; a missed or doubled call changes
 * nothing but the time.
 */
export const handler = functionHandler({
  name: 'clear-machines',
  input: z.strictObject({}),
  async run(_event, world) {
    const now = world.clock.now()
    const limits = { unused_since: now - KEPT_MS, most: MOST, crowded_since: now - HOUR_MS }
    const removed = await world.machine.clear(limits)
    if (removed > 0) world.log.info('removed machines of inline documents that nothing used', { removed })
    if (Math.floor(now / HOUR_MS) % 24 !== 0) return { removed }
    const pruned = await world.machine.prune({ machines: now - WAITING_MS, parts: now - LIVING_MS })
    if (pruned === 0) return { removed }
    world.log.info('removed versions of machines that deployments replaced', { pruned })
    return { removed, pruned }
  },
})
